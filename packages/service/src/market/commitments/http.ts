import { Commitment } from '@referrer/protocol'
import { z } from 'zod'
import { accountShown, type Shown, wholeNumber } from '../../kit/fields.ts'
import { NONCE_FORMS, type Proof } from './operations.ts'

const DECIMAL: Shown = { type: 'string', pattern: '^(0|[1-9][0-9]{0,77})$' }
const BYTES32: Shown = { type: 'string', pattern: '^0x[0-9a-fA-F]{64}$' }
const SIGNATURE: Shown = { type: 'string', pattern: '^0x([0-9a-fA-F]{2}){65,}$' }
const NONCES = { decimal: DECIMAL, bytes32: BYTES32 } as const

/** Schemas of the fields of a commitment, by their Solidity type. */
const FIELDS: Record<string, z.ZodType> = {
  uint256: z.string().meta({ shown: DECIMAL }),
  uint16: wholeNumber,
  bytes32: z.string().meta({ shown: BYTES32 }),
  string: z.string(),
}

/** A field that only the operation validates, so that its refusals come in the order that the interface fixes. */
const unvalidated = (about: string, shown: Shown) => z.unknown().optional().meta({ about, shown })

/** The fields that step 2 takes besides those of step 1. */
export const proofFields = (type: Commitment.TwoStepType) => ({
  nonce: unvalidated('Required: the nonce of step 1.', NONCES[Commitment.COMMITMENTS[type].nonce]),
  expiry: unvalidated('Required: the expiry of step 1.', { type: 'integer' }),
  agent_sig: unvalidated(
    'Required: the signature of the commitment by the owner of the agent, 65 bytes as hex, low-s. Where the owner is a contract, it decides (ERC-1271), also before it is deployed (ERC-6492), on bytes of any number.',
    SIGNATURE,
  ),
})

export const proofOf = (body: { nonce?: unknown; expiry?: unknown; agent_sig?: unknown }): Proof => ({
  nonce: body.nonce,
  expiry: body.expiry,
  agentSig: body.agent_sig,
})

/** The refusals of the proof, in the order of the checks. */
export const proofRefusals = (type: Commitment.TwoStepType) => [
  'nonce and expiry are required with agent_sig: invalid input',
  'commitment expired: invalid input',
  'invalid expiry: invalid input',
  `invalid nonce: must be ${NONCE_FORMS[Commitment.COMMITMENTS[type].nonce]}: invalid input`,
  'invalid agent_sig: must be 0x-prefixed 65-byte hex: invalid input',
  'recover signer: no signer can be recovered; sign the message again: invalid input',
]

/** Schema of the answer of step 1. */
export const envelopeShown = (type: Commitment.TwoStepType, status: string) =>
  z
    .object({
      status: z.literal(status),
      commitment: z
        .object({
          types: z.record(z.string(), z.array(z.object({ name: z.string(), type: z.string() }))),
          primaryType: z.literal(type),
          domain: z.object({
            name: z.literal(Commitment.COMMITMENTS[type].domainName),
            version: z.literal(Commitment.DOMAIN_VERSION),
            chainId: wholeNumber,
            verifyingContract: accountShown,
          }),
          message: z.object(
            Object.fromEntries(
              Object.entries(Commitment.COMMITMENTS[type].fields).map(([name, solidity]) => [
                name,
                name === 'expiry' ? wholeNumber : (FIELDS[solidity] ?? z.never()),
              ]),
            ),
          ),
        })
        .meta({ about: 'EIP-712 typed data: to be signed as it is by the owner of the agent.' }),
      nonce: z.string().meta({
        about: 'To be sent back in step 2.',
        shown: NONCES[Commitment.COMMITMENTS[type].nonce],
      }),
      expiry: wholeNumber.meta({ about: 'Until when step 2 is possible, in unix seconds: one hour.' }),
    })
    .meta({ id: `${type}Step` })
