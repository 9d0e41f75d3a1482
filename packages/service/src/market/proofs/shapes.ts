// What proofs take and answer, in all doors.
import { z } from 'zod'
import { momentShown, wholeNumber } from '../../kit/fields.ts'
import { time, whole } from '../../kit/json-values.ts'
import type { ProofStatus as Status } from './store.ts'

/** Kept as it came: a copy may lose keys. That it is missing or empty is for the operation to say. */
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
