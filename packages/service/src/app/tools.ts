import { rankTools } from '../derived/ranks/mcp.ts'
import { discoveryTools } from '../discovery/answers/mcp.ts'
import type { Tool } from '../kit/tool.ts'
import { agentTools } from '../market/agents/mcp.ts'
import { cashbackTools } from '../market/cashback/mcp.ts'
import { digestTools } from '../market/digest/mcp.ts'
import { earningsTools } from '../market/earnings/mcp.ts'
import { escrowTools } from '../market/escrows/mcp.ts'
import { feedbackTools } from '../market/feedback/mcp.ts'
import { intentTools } from '../market/intents/mcp.ts'
import { linkTools } from '../market/links/mcp.ts'
import { merchantTools } from '../market/merchants/mcp.ts'
import { messengerTools } from '../market/messenger/mcp.ts'
import { proofTools } from '../market/proofs/mcp.ts'
import { reviewableTools } from '../market/reviewable/mcp.ts'
import { reviewTools } from '../market/reviews/mcp.ts'
import { voteTools } from '../market/votes/mcp.ts'

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
  ...feedbackTools,
  ...intentTools,
  ...messengerTools,
]
