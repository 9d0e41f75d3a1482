import type { Account, Chain, Client, PublicActions, Transport, WalletActions } from 'viem'
import type { Plan, Step } from './plan.ts'

export type DeploymentClient = Client<
  Transport,
  Chain,
  undefined,
  undefined,
  PublicActions & WalletActions<Chain>
>

/** Sends what is left of a plan, one step after the other. Safe to run again after a crash at any point: a step that took effect is done. */
export async function executePlan(
  plan: Plan,
  client: DeploymentClient,
  account: Account,
  onStep: (step: Step, index: number, total: number) => void = () => {},
): Promise<void> {
  const open = plan.steps.filter((step) => !step.done)
  const blocked = open.filter((step) => step.sender)
  if (blocked.length > 0) {
    const list = blocked.map(
      (step) => `  ${step.title}\n    from ${step.sender} to ${step.to} data ${step.data}`,
    )
    throw new Error(
      `the deployer may not send these steps: have the accounts named below send them, then run again:\n${list.join('\n')}`,
    )
  }
  for (const [index, step] of open.entries()) {
    onStep(step, index + 1, open.length)
    const hash = await client.sendTransaction({ account, to: step.to, data: step.data })
    const receipt = await client.waitForTransactionReceipt({ hash })
    if (receipt.status !== 'success') throw new Error(`${step.title}: transaction ${hash} reverted`)
  }
}
