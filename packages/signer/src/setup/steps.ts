import { z } from 'zod'

export const Step = z.object({
  step: z.enum(['key', 'gas', 'usdc', 'identity', 'market', 'cashback']),
  state: z.enum(['done', 'did', 'waiting']),
  about: z.string(),
})

export type Step = z.output<typeof Step>
