// An owner at the page of the chat: both ways to link a wallet, a purchase that is asked for with buttons, and what the bot writes first.
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ShownMessage } from '../src/chat/view.ts'
import { PATIENCE_MS, run, startTestSandbox, type TestSandbox, until } from './sandbox.ts'

// Its examples are programs that wait for the chain.
describe('the chat of the sandbox', { timeout: PATIENCE_MS }, () => {
  let sandbox: TestSandbox
  beforeAll(async () => {
    sandbox = await startTestSandbox()
  }, PATIENCE_MS)
  afterAll(() => sandbox?.end())

  async function post(path: string, deed: object): Promise<Response> {
    const init = {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(deed),
    }
    return fetch(`${sandbox.state.chatUrl}${path}`, init)
  }

  /** The newest message of a person's chat, once it is from the bot and as wanted. */
  async function answer(person: string, isWanted: (message: ShownMessage) => boolean): Promise<ShownMessage> {
    const response = await fetch(`${sandbox.state.chatUrl}/events`)
    let text = ''
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk).toString()
      const chats = text
        .split('\n\n')
        .slice(0, -1)
        .filter((event) => event.startsWith('event: chat\n'))
      for (const chat of chats.map((event) => JSON.parse(event.slice(event.indexOf('data: ') + 6)))) {
        const newest: ShownMessage | undefined = chat.messages.at(-1)
        if (chat.person === person && newest && !newest.isMine && isWanted(newest)) return newest
      }
    }
    throw new Error(`the stream ended: ${text}`)
  }
  async function example(name: string, args: string[] = []) {
    const program = runExample(name, args)
    const [status] = await program.ended
    expect(program.output.text).not.toContain('Error')
    expect(status).toBe(0)
  }
  const runExample = (name: string, args: string[]) =>
    run(
      fileURLToPath(new URL(`../examples/${name}.ts`, import.meta.url)),
      { PORT_OFFSET: sandbox.offset },
      args,
    )
  const press = ({ id, buttons }: ShownMessage, at: number) =>
    post('/press', { person: 'buyer', message: id, button: buttons.flat()[at]?.callback_data })

  it('links the wallet of a person who says /start, by the button below the answer', async () => {
    await post('/say', { person: 'reviewer', text: '/start' })
    const { id } = await answer('reviewer', ({ asksToLink }) => asksToLink)
    const linked = await post('/link', { person: 'reviewer', message: id, as: 'reviewer' })
    expect(await linked.json()).toEqual({ linked: true, messenger_username: 'sandbox_reviewer' })
    const again = await post('/link', { person: 'reviewer', message: id, as: 'buyer' })
    expect((await again.json()).error).toContain('invalid or expired code')
    await post('/say', { person: 'reviewer', text: '/status' })
    await answer('reviewer', ({ text }) => text.includes(sandbox.account('reviewer').address))
  })

  it('links the wallet of an owner, whose caps are the budget of what is asked for', async () => {
    const owner = runExample('owner', ['0.5', '4.25'])
    await until(() => owner.output.text.includes('?start='), owner)
    const code = /\?start=([\w-]+)#person=buyer/.exec(owner.output.text)?.[1]
    await post('/say', { person: 'buyer', text: `/start ${code}` })
    await answer('buyer', ({ text }) => text.includes(sandbox.account('buyer').address))
    const [status] = await owner.ended
    expect(owner.output.text).toContain('linked to the chat of @sandbox_buyer')
    expect(status).toBe(0)

    const isPriced = async () => {
      const response = await fetch(`${sandbox.state.baseUrl}/v1/discover?intent=when+does+the+sun+set`)
      const { products } = response.ok ? await response.json() : { products: [] }
      return products[0]?.price_usdc !== undefined
    }
    await until(isPriced, sandbox)
    await post('/say', { person: 'buyer', text: '/buy when does the sun set' })
    const offers = await answer('buyer', ({ buttons }) => buttons.length > 0)
    expect(offers.text).toContain('Daylight')
    await press(offers, 0)
    const draft = await answer('buyer', ({ isEdited, id }) => isEdited && id === offers.id)
    expect(draft.text).toContain('4.25 USDC')
  })

  it('tells the owner of a purchase, and reminds of its review three days later', async () => {
    await example('buy')
    const confirmation = await answer('buyer', ({ text }) => text.includes('Purchase confirmed: Daylight'))
    expect(confirmation.text).toContain('agent 3')
    // The last thing that happens here: afterwards the chain is ahead of what buyers sign.
    await example('later', ['3'])
    const reminder = await answer(
      'buyer',
      ({ id, text }) => id > confirmation.id && text.includes('Daylight'),
    )
    expect(await (await press(reminder, 0)).json()).not.toHaveProperty('error')
    expect((await (await fetch(`${sandbox.state.chatUrl}/clock`)).json()).aheadSeconds).toBeGreaterThan(
      86_400,
    )
  })
})
