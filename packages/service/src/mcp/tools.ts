import { agentTools } from '../agents/mcp.ts'
import { cashbackTools } from '../cashback/mcp.ts'
import { digestTools } from '../digest/mcp.ts'
import { discoveryTools } from '../discovery/mcp.ts'
import { earningsTools } from '../earnings/mcp.ts'
import { escrowTools } from '../escrows/mcp.ts'
import { intentTools } from '../intents/mcp.ts'
import { linkTools } from '../links/mcp.ts'
import { merchantTools } from '../merchants/mcp.ts'
import { messengerTools } from '../messenger/mcp.ts'
import { proofTools } from '../proofs/mcp.ts'
import { rankTools } from '../ranks/mcp.ts'
import { reviewableTools } from '../reviewable/mcp.ts'
import { reviewTools } from '../reviews/mcp.ts'
import { voteTools } from '../votes/mcp.ts'
import type { Tool } from './tool.ts'

/** Everything that the service offers to models, in the order in which they read it. */
export const tools: readonly Tool[] = [
  ...discoveryTools,
  ...linkTools,
  ...digestTools,
  ...reviewableTools,
  ...voteTools,
  ...proofTools,
  ...reviewTools,
  ...agentTools,
  ...cashbackTools,
  ...earningsTools,
  ...escrowTools,
  ...rankTools,
  ...merchantTools,
  ...intentTools,
  ...messengerTools,
]
