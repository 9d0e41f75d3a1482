import { z } from 'zod'
import { type Tool, type ToolCall, type ToolSpec, tool } from '../../kit/tool.ts'
import { envelopeShown, proofFields, proofOf } from './http.ts'
import type { Proof, proposeCommitment, TwoStepType } from './operations.ts'

type Shape = z.ZodRawShape
type Proposed = ReturnType<typeof proposeCommitment>

interface TwoStepSpec<S extends Shape>
  extends Omit<ToolSpec<z.output<z.ZodObject<S>>>, 'input' | 'output' | 'handle'> {
  commitment: TwoStepType
  /** Name of the signer's tool that signs this commitment. */
  signWith: string
  /** The `status` in the answer of step 1. */
  status: string
  fields: S
  /** Schema of the answer of step 2. */
  done: z.ZodType
  propose(call: ToolCall<z.output<z.ZodObject<S>>>): Proposed | Promise<Proposed>
  complete(call: ToolCall<z.output<z.ZodObject<S>>>, proof: Proof): unknown
}

/** A tool for both steps: without `agent_sig` it returns the commitment to sign and stores nothing; with it, it runs the operation. */
export function twoStepTool<S extends Shape>(spec: TwoStepSpec<S>): Tool {
  const { commitment, signWith, status, fields, done, propose, complete, description, details, ...rest } =
    spec
  type Fields = z.output<z.ZodObject<S>>
  const input = z.object({ ...fields, ...secondStepFields(commitment) })
  return tool<Fields>({
    ...rest,
    description: `${description} Two calls: sign the commitment of the first answer with ${signWith} (signer), then repeat with nonce, expiry and agent_sig.`,
    details: [details, howTo(signWith)].filter(Boolean).join('\n\n'),
    input: input as unknown as ToolSpec<Fields>['input'],
    output: [envelopeShown(commitment, status), done],
    async handle(call) {
      const given = call.input as Parameters<typeof proofOf>[0]
      const proof = proofOf({ ...given, expiry: numberOf(given.expiry) })
      const isSigned = proof.agentSig !== undefined
      return isSigned ? complete(call, proof) : { status, ...(await propose(call)) }
    },
  })
}

/** The fields of step 2. They are optional, because both steps are one tool. */
function secondStepFields(commitment: TwoStepType) {
  const { nonce, expiry, agent_sig } = proofFields(commitment)
  const only = (field: z.ZodType, about: string) =>
    field.meta({ ...field.meta(), about: `Only in the second call: ${about}` })
  return {
    nonce: only(nonce, 'the nonce of the first answer.'),
    expiry: only(expiry, 'the expiry of the first answer.'),
    agent_sig: only(agent_sig, 'the signature of the commitment, 65 bytes as hex.'),
  }
}

const howTo = (signWith: string) =>
  `Two calls. First without nonce, expiry and agent_sig: nothing is written, the answer holds a commitment. Hand that commitment unchanged to ${signWith} of the signer (or sign it as EIP-712 typed data with the key that owns the agent). Then call again within the hour with the same arguments and with nonce and expiry of the first answer and agent_sig = the signature.`

/** Reads a number from text, because some models send numbers as text. */
const numberOf = (value: unknown) =>
  typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value
