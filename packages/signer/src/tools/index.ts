import type { Tool } from '../tool.ts'
import { bindEscrow } from './bind.ts'
import { buyProduct } from './buy.ts'
import { signCharge } from './charge.ts'
import { updateReviewContent } from './edit.ts'
import { mirrorReviewTool } from './mirror.ts'
import { payForProduct } from './pay.ts'
import { publishEscrowReview } from './publish.ts'
import { reviewPurchaseTool } from './review-purchase.ts'
import { settleFallback } from './settle-fallback.ts'
import { setup } from './setup.ts'
import { signTools } from './sign.ts'
import { takeBackPayment } from './take-back.ts'
import { walletStatus } from './wallet-status.ts'

/** In the order in which models read them. */
export const tools: readonly Tool[] = [
  setup,
  buyProduct,
  reviewPurchaseTool,
  payForProduct,
  walletStatus,
  publishEscrowReview,
  updateReviewContent,
  bindEscrow,
  settleFallback,
  mirrorReviewTool,
  ...signTools,
  signCharge,
  takeBackPayment,
]
