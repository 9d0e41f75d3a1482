// Tools in two steps as an independent client calls them: the typed data of step 1 is signed unchanged.
import type { LocalAccount, TypedDataDefinition } from 'viem'
import type { McpCaller, ToolAnswer } from './client.ts'

type Mcp = Pick<McpCaller, 'call'>
type Args = Record<string, unknown>

export interface SignedArgs extends Args {
  nonce: string
  expiry: number
  agent_sig: string
}

/** The arguments of step 2: those of step 1, with its commitment signed. */
export async function signedArgs(
  { call }: Mcp,
  name: string,
  signer: LocalAccount,
  args: Args,
): Promise<SignedArgs> {
  const { isError, text, structured } = await call(name, args)
  if (isError) throw new Error(`what the test needs was refused: ${text}`)
  const { commitment, nonce, expiry } = structured
  const agent_sig = await signer.signTypedData(commitment as TypedDataDefinition)
  return { ...args, nonce, expiry, agent_sig }
}

/** Does both steps; returns the answer of step 2. */
export async function inTwoSteps(
  mcp: Mcp,
  name: string,
  signer: LocalAccount,
  args: Args,
): Promise<ToolAnswer> {
  return mcp.call(name, await signedArgs(mcp, name, signer, args))
}
