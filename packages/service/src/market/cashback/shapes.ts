import { z } from 'zod'

export const RateSet = z.object({ status: z.literal('set') }).meta({ id: 'CashbackRateSet' })
