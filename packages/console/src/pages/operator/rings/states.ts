export const RING_STATES = ['open', 'acted', 'dismissed'] as const
export type RingState = (typeof RING_STATES)[number]
