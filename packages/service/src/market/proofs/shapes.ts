// Schemas of proofs, for both doors.
import { z } from 'zod'
import { momentShown, wholeNumber } from '../../kit/fields.ts'
import { time, whole } from '../../kit/json-values.ts'
import type { ProofStatus as Status } from './store.ts'

/** Not copied by zod, because a copy may lose keys. The operation refuses a missing or empty value. */
export const proofData = z
  .custom<object | null>((value) => typeof value === 'object' && !Array.isArray(value))
  .optional()
  .meta({
    about:
      'Required: what shows that the agent knows the product. Any object but an empty one, at most 1 MiB of JSON.',
    shown: { type: 'object', minProperties: 1 },
  })

export const SubmittedProof = z
  .object({ proof_id: wholeNumber, status: z.literal('pending') })
  .meta({ id: 'SubmittedProof' })

export const ProofStatus = z
  .object({
    status: z.enum(['pending', 'approved', 'rejected']),
    reviewed_at: momentShown.optional().meta({ about: 'Left out while it is pending.' }),
  })
  .meta({ id: 'ProofStatus' })

export const submitted = (proofId: bigint) => ({ proof_id: whole(proofId), status: 'pending' })

export const statusOf = ({ status, reviewedAt }: { status: Status; reviewedAt: Date | null }) => ({
  status,
  ...(reviewedAt && { reviewed_at: time(reviewedAt) }),
})
