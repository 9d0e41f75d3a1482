import { coveredRank, coverOf, deflate, MILLION, type ProductType, rankOf, voiceOf } from '@referrer/ranking'

export interface Trusted {
  /** Of the agent's owner, in millionths; null: the owner has bought nothing. */
  standing: number | null
  /** Over both product types and all shops, inflated. */
  support: bigint
  sales: bigint
}

interface Evidence {
  /** Inflated. */
  gain: bigint
  loss: bigint
  day: number
  /** Null: no shop is verified, and everything counts in full. */
  trusted: Trusted | null
}

/** How far the evidence for an author of this standing counts. Who has bought nothing is not judged by it. */
export const authorsVoice = (standing: number | null): number => voiceOf(standing ?? MILLION)

export const coverOn = (day: number, { support, sales }: Pick<Trusted, 'support' | 'sales'>) => ({
  support: deflate(support, day),
  sales: deflate(sales, day),
})

/** The rank in the steps in which it comes about: from the evidence alone, with the owner's voice, and as far as covered. */
export function rankSteps(type: ProductType, { gain, loss, day, trusted }: Evidence, fullCommission: bigint) {
  const [full, against] = [deflate(gain, day), deflate(loss, day)]
  const voice = trusted ? authorsVoice(trusted.standing) : MILLION
  const evidence = rankOf(type, { gain: full, loss: against })
  const voiced = rankOf(type, { gain: (full * voice) / MILLION, loss: against })
  const rank =
    voiced !== null && trusted
      ? coveredRank(type, voiced, coverOf(coverOn(day, trusted), fullCommission))
      : voiced
  return { evidence, voiced, rank }
}
