// Tools in two steps as a stranger calls them: the typed data of step 1 is signed as it came.
import type { LocalAccount, TypedDataDefinition } from 'viem'
import type { McpCaller, ToolAnswer } from './client.ts'

type Mcp = Pick<McpCaller, 'call'>
type Args = Record<string, unknown>

export interface SignedArgs extends Args {
  nonce: string
  expiry: number
  agent_sig: string
}

/** What is sent in step 2: the arguments of step 1, and its commitment signed. */
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

/** Both steps; what step 2 answers. */
export async function inTwoSteps(
  mcp: Mcp,
  name: string,
  signer: LocalAccount,
  args: Args,
): Promise<ToolAnswer> {
  return mcp.call(name, await signedArgs(mcp, name, signer, args))
}
