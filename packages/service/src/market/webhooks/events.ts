/** The types of messages. */
export const EVENTS = [
  'purchase.settled',
  'escrow.settled',
  'review.published',
  'review.updated',
  'vote.cast',
  'dispute.opened',
  'dispute.resolved',
] as const
export type EventType = (typeof EVENTS)[number]

/** The message of the test route. */
export const TEST_EVENT = 'webhook.test'
