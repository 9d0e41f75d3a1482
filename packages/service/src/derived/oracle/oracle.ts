import type { Address } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { type Context, once } from '../../kit/context.ts'

/** The account that the oracle sends from. Undefined: this service is not the oracle. */
export const oracleOf = (context: Context): Address | undefined => addresses(context).oracle

const addresses = once(({ config: { oraclePrivateKey } }) => ({
  oracle: oraclePrivateKey && privateKeyToAddress(oraclePrivateKey.reveal()),
}))
