import type { Address } from 'viem'
import type { Context } from '../../kit/context.ts'

/** The account that the oracle sends from. Undefined: this market has no oracle. */
export const oracleOf = ({ config }: Pick<Context, 'config'>): Address | undefined => config.oracle?.address
