// Telegram in the sandbox: a stand-in of its Bot API, and a page on which one talks to the bot as one of the sandbox's people.
import type { RequestListener } from 'node:http'
import { startTelegram, type Telegram } from '@referrer/telegram-stand-in'
import { createPublicClient, http } from 'viem'
import type { SandboxAccount } from '../state.ts'
import { createPage } from './page.ts'
import { inviteChatters } from './people.ts'

export const BOT_NAME = 'referrer_sandbox_bot'

export interface ChatOptions {
  port: number
  /** Where links between a chat and a wallet are confirmed. */
  serviceUrl: string
  rpcUrl: string
  accounts: SandboxAccount[]
}

export type Chat = Pick<Telegram, 'url' | 'token' | 'botName' | 'close'>

export async function startChat({ port, serviceUrl, rpcUrl, accounts }: ChatOptions): Promise<Chat> {
  let page: RequestListener | undefined
  const telegram = await startTelegram({
    port,
    botName: BOT_NAME,
    page: (request, response) => page?.(request, response),
  })
  const chain = createPublicClient({ transport: http(rpcUrl) })
  page = createPage({
    ...{ telegram, serviceUrl, chatters: inviteChatters(telegram, accounts) },
    chainTime: async () => Number((await chain.getBlock()).timestamp),
  })
  return telegram
}
