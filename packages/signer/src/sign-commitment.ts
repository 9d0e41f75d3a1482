import { Attribution, AttributionToken, Commitment } from '@referrer/protocol'
import type { Address, Hash, Hex, LocalAccount } from 'viem'
import { time } from './fields.ts'
import { explain, Refused } from './refused.ts'

export interface Signed {
  signature: Hex
  signer: Address
  /** The signed fields in readable form. */
  signed: {
    type: string
    chain_id: number
    contract: Address
    fields: Record<string, string | number>
    expires_at?: string
  }
}

/** A commitment of the type that is expected, unchanged. */
export function readCommitment<K extends Commitment.PrimaryType>(
  type: K,
  value: unknown,
): Commitment.Commitment<K> {
  const commitment = orFail('compute digest', () => Commitment.parse(value))
  if (commitment.primaryType !== type) {
    throw new Refused(
      `compute digest: this tool signs a ${type}, and this is a ${commitment.primaryType}: use the tool for that one`,
    )
  }
  return commitment as Commitment.Commitment<K>
}

/** A commitment that the signer itself asked for: it must say what was asked, and nothing is signed for another chain or agent. */
export async function signExpected<K extends Commitment.TwoStepType>(
  account: LocalAccount,
  type: K,
  value: unknown,
  { chainId, message }: { chainId: number; message: Partial<Commitment.Message<K>> },
): Promise<Hex> {
  const commitment = readCommitment(type, value)
  const given = commitment.message as Record<string, unknown>
  const isAsAsked = Object.entries(message).every(([field, expected]) => given[field] === expected)
  if (commitment.domain.chainId !== chainId || !isAsAsked) {
    throw new Refused(`the marketplace asks to sign another ${type} than this one`)
  }
  return (await signCommitment(account, commitment)).signature
}

export async function signCommitment(
  account: LocalAccount,
  commitment: Commitment.Commitment,
): Promise<Signed> {
  const signature = await account
    .signTypedData(commitment as Parameters<typeof account.signTypedData>[0])
    .catch((error: unknown) => {
      throw error instanceof Refused ? error : new Refused('sign: the key cannot sign this')
    })
  const { primaryType, domain, message } = commitment
  return {
    signature,
    signer: account.address,
    signed: {
      type: primaryType,
      chain_id: domain.chainId,
      contract: domain.verifyingContract,
      fields: { ...message },
      ...('expiry' in message && { expires_at: expiryOf(message.expiry) }),
    },
  }
}

export interface Transfer {
  chainId: number
  splitRouter: Address
  txHash: Hash
  /** Of the ref link that the transfer pays for. */
  token: string
  buyerAgentId: string | undefined
}

/** The word of the payer that a plain transfer to the router pays for a ref link. */
export function signTransfer(
  account: LocalAccount,
  { chainId, splitRouter, txHash, token, buyerAgentId }: Transfer,
): Promise<Signed> {
  const commitment = orFail('compute digest', () =>
    Commitment.from('ChargeCommitment', {
      chainId,
      splitRouter,
      message: {
        txHash,
        tokenHash: AttributionToken.tokenHash(token),
        buyerAgentId: buyerAgentId ?? String(Attribution.AGENTLESS_BUYER_ID),
        payer: account.address,
      },
    }),
  )
  return signCommitment(account, commitment)
}

/** A time too large for a date is shown as a number. */
const expiryOf = (seconds: number) => (seconds <= 253_402_300_799 ? time(seconds) : `${seconds} s after 1970`)

export function orFail<T>(prefix: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw new Refused(`${prefix}: ${explain(error)}`)
  }
}
