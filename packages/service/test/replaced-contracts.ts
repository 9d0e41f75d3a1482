import { type Addresses, parseDeploymentConfig, planDeployment } from '@referrer/contracts/deploy'
import type { Call, ForkingChain } from './forking-chain.ts'

const DEPLOYMENT_GAS = 8_000_000n

/** Deploys a second escrow, with a shorter window, and its router. They are not in the address registry yet. */
export async function deploySuccessors({
  chainId,
  market,
  send,
}: Pick<ForkingChain, 'chainId' | 'market' | 'send'>): Promise<{
  addresses: Addresses
  /** The calls by which the registry's owner registers them. */
  naming: Call[]
}> {
  const { client, accounts } = market
  const { CommissionEscrow: _escrow, SplitRouter: _router, ...kept } = market.addresses
  const config = parseDeploymentConfig({
    chainId,
    sandbox: true,
    treasury: accounts.treasury.address,
    admin: accounts.admin.address,
    adminDelay: 0,
    windowSeconds: 3_600,
    settlers: [accounts.settler.address],
    oracles: [accounts.oracle.address],
    publishers: [accounts.publisher.address],
    guardians: [accounts.guardian.address],
  })
  const { addresses, steps } = await planDeployment(client, accounts.deployer.address, config, kept)
  const open = steps.filter(({ done }) => !done)
  const calls = open.map(
    ({ to, data, sender }): Call => ({
      account: sender ? accounts.admin : accounts.deployer,
      to,
      data,
      gas: DEPLOYMENT_GAS,
    }),
  )
  await send(...calls.filter(({ account }) => account === accounts.deployer))
  return { addresses, naming: calls.filter(({ account }) => account === accounts.admin) }
}
