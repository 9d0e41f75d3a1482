import type { AnswerOf } from '@referrer/client'

/** A suspected ring with its evidence. */
export type RingCase = AnswerOf<'/admin/rings/{ring_id}', 'get'>
