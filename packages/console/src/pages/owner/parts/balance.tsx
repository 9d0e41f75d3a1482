import { parseUsdc } from '../../../format/usdc.ts'
import { Usdc } from '../../../ui/values.tsx'

/** What a wallet holds, which the market tells in whole USDC as decimal text; undefined: it cannot read the chain now. */
export function Balance({ text }: { text: string | undefined }) {
  const amount = text === undefined ? undefined : parseUsdc(text)
  return amount === undefined ? 'unknown' : <Usdc amount={amount} />
}
