import {
  type Account,
  formatEther,
  parseTransaction,
  recoverTransactionAddress,
  type TransactionSerializedLegacy,
} from 'viem'
import type { DeploymentClient } from './execute.ts'
import { CREATE2_FACTORY } from './plan.ts'

/**
 * Deploys the factory. It is the same on every chain, and so is the address that comes of it: nobody has the key of its signer, for the
 * signature was made up and the signer computed from it.
 */
const TRANSACTION =
  '0xf8a58085174876e800830186a08080b853604580600e600039806000f350fe7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf31ba02222222222222222222222222222222222222222222222222222222222222222a02222222222222222222222222222222222222222222222222222222222222222' as TransactionSerializedLegacy

/** Brings the CREATE2 factory to a chain that lacks it, at the deployer's cost. Safe to run again after a crash at any point. */
export async function deployFactory(
  client: DeploymentClient,
  account: Account,
  tell: (line: string) => void,
): Promise<void> {
  const isThere = async () => (await client.getCode({ address: CREATE2_FACTORY })) !== undefined
  if (await isThere()) return tell(`the CREATE2 factory is at ${CREATE2_FACTORY} already`)
  const { gas = 0n, gasPrice = 0n } = parseTransaction(TRANSACTION) as { gas?: bigint; gasPrice?: bigint }
  const signer = await recoverTransactionAddress({ serializedTransaction: TRANSACTION })
  const missing = gas * gasPrice - (await client.getBalance({ address: signer }))
  if (missing > 0n) {
    tell(`sending ${formatEther(missing)} ETH to ${signer}, which pays for the factory`)
    await client.waitForTransactionReceipt({
      hash: await client.sendTransaction({ account, to: signer, value: missing }),
    })
  }
  const hash = await client.sendRawTransaction({ serializedTransaction: TRANSACTION }).catch((error) => {
    throw new Error(
      `the node refuses the factory's transaction, which is not bound to a chain (EIP-155): ${error.shortMessage ?? error}. ` +
        'Send it through a node that takes such transactions, then run again.',
    )
  })
  await client.waitForTransactionReceipt({ hash })
  if (!(await isThere())) throw new Error(`transaction ${hash} left no factory at ${CREATE2_FACTORY}`)
  tell(`the CREATE2 factory is at ${CREATE2_FACTORY}`)
}
