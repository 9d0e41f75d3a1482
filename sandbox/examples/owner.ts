// What the owner of an agent does: sets what it may spend, and links the wallet to a chat. Beside `npm start`:
//   node scripts/run.mjs sandbox/examples/owner.ts [<USDC for one purchase>] [<USDC a day>]
import { Money } from '@referrer/protocol'
import { privateKeyToAccount } from 'viem/accounts'
import { callerOf } from '../src/caller.ts'
import { accountOf } from '../src/program.ts'
import { fail, runningSandbox } from './running.ts'
import { waitFor } from './wait.ts'

const { state } = await runningSandbox()
const owner = privateKeyToAccount(accountOf(state, 'buyer').privateKey)
const service = callerOf(state.baseUrl)
const [perPurchase, daily] = [process.argv[2] ?? '5', process.argv[3] ?? '10'].map(baseUnits)

await service.post(owner, '/v1/spending-limits', {
  chain_id: state.chainId,
  per_tx_cap_usdc: perPurchase,
  daily_cap_usdc: daily,
})
console.log(`${owner.address} may spend ${usdc(perPurchase)} for one purchase and ${usdc(daily)} a day`)

// A signature counts once, and does not say what for: what is asked again and again, or lets a chat buy, is asked in a session.
const session = await service.signIn(owner)
const { code } = await service.postWith<{ code: string }>(session, '/v1/messenger/link/start')
console.log(`now open this page and press the button:\n  ${state.chatUrl}/?start=${code}#person=buyer`)
const readStatus = () => service.postWith<Status>(session, '/v1/messenger/link/status')
const { messenger_username } = await waitFor('the chat', readStatus, ({ linked }) => linked)
console.log(`linked to the chat of @${messenger_username}. Try there: /buy when does the sun set`)

interface Status {
  linked: boolean
  messenger_username?: string
}

/** The interface takes whole numbers here. */
function baseUnits(text: string): number {
  try {
    return Number(Money.parse(text))
  } catch {
    return fail(`"${text}" is no amount: write it like 1 or 2.5`)
  }
}

function usdc(amount = 0): string {
  return `${Money.format(BigInt(amount))} USDC`
}
