import { z } from 'zod'
import type { Context } from '../../kit/context.ts'
import { accountShown, hex32, id, momentShown, page, wholeNumber } from '../../kit/fields.ts'
import { address, hex, time, whole } from '../../kit/json-values.ts'
import { type Route, route } from '../../kit/route.ts'
import { offsetOf } from '../../machinery/db/page.ts'
import { listProofs, type ProofCaseRow } from '../proofs/store.ts'
import { listed, noteBody, withJson } from './fields.ts'
import { type AdminOfChain, decide } from './operations.ts'

/** Largest page; it is small because one proof can have 1 MiB. */
const MOST = 20

const status = z.enum(['pending', 'approved', 'rejected'])

const ProofCase = z
  .object({
    proof_id: wholeNumber,
    agent_id: wholeNumber,
    merchant_id: wholeNumber,
    product_id: hex32,
    status,
    submitted_at: momentShown,
    reviewed_at: momentShown.nullable(),
    reviewed_by: accountShown.nullable(),
    note: z.string().nullable(),
    by_owner: z
      .boolean()
      .meta({ about: 'Whether the owner of the agent signed it. Tools take proofs from anybody.' }),
    by_machine: z
      .boolean()
      .meta({ about: 'Whether a machine verified its receipt and approved it; then reviewed_by is null.' }),
    machine_note: z
      .string()
      .nullable()
      .meta({ about: 'Of a receipt that no machine has approved: why. Null for proofs without a receipt.' }),
    proof_data: z.looseObject({}),
  })
  .meta({ id: 'ProofCase' })

const ProofDecision = z
  .object({ proof_id: wholeNumber, status: z.enum(['approved', 'rejected']), reviewed_at: momentShown })
  .meta({ id: 'ProofDecision' })

const params = z.object({ id: id(0, 'invalid proof id', 'The proof.') })
const refusals = { 404: 'not found', 409: 'proof is already decided' }

export const adminProofRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/admin/proofs',
    tag: 'Admin',
    summary: 'Proofs, those that owners signed first, in the order in which they came',
    about: 'One that nobody signed is forgotten after some days, unless it is approved.',
    auth: 'admin',
    query: z.object({
      status: status.default('pending').meta({
        about: 'Those in this state.',
        shown: { type: 'string', enum: status.options, default: 'pending' },
      }),
      page,
      limit: listed(10, MOST),
    }),
    takesChain: true,
    response: z
      .object({ proofs: z.array(ProofCase), page: wholeNumber, limit: wholeNumber })
      .meta({ id: 'ProofCases' }),
    async handle({ context, chain, query: { status, page, limit } }) {
      const offset = offsetOf({ page, limit })
      const rows = await listProofs(context.sql, chain.config.chainId, { status, limit, offset })
      const proofs = rows.map((row) => caseJson(context, row)).join(',')
      return withJson({ page, limit }, 'proofs', `[${proofs}]`)
    },
  }),
  route({
    method: 'POST',
    path: '/admin/proofs/{id}/approve',
    tag: 'Admin',
    summary: 'Approve a proof',
    about: 'Its agent may then publish a review of the product.',
    auth: 'admin',
    params,
    takesChain: true,
    response: ProofDecision,
    refusals,
    handle: (call) => decided(call, call.params.id, 'approved', null),
  }),
  route({
    method: 'POST',
    path: '/admin/proofs/{id}/reject',
    tag: 'Admin',
    summary: 'Reject a proof',
    auth: 'admin',
    params,
    body: noteBody,
    takesChain: true,
    response: ProofDecision,
    refusals,
    handle: (call) => decided(call, call.params.id, 'rejected', call.body.note),
  }),
]

async function decided(
  admin: AdminOfChain,
  proofId: bigint,
  status: 'approved' | 'rejected',
  note: string | null,
) {
  const at = await decide(admin, proofId, { status, note })
  return { proof_id: whole(proofId), status, reviewed_at: time(at) }
}

/** The proof's data is inserted byte for byte as it was submitted. */
const caseJson = ({ recovery }: Context, row: ProofCaseRow) =>
  withJson(
    {
      proof_id: whole(row.proof_id),
      agent_id: whole(row.agent_id),
      merchant_id: whole(row.merchant_id),
      product_id: hex(row.product_id),
      status: row.status,
      submitted_at: time(row.submitted_at),
      reviewed_at: row.reviewed_at && time(row.reviewed_at),
      reviewed_by: row.reviewed_by && address(recovery, row.reviewed_by),
      note: row.note,
      by_owner: row.by_owner,
      by_machine: row.by_machine,
      machine_note: row.machine_note,
    },
    'proof_data',
    row.proof_data,
  )
