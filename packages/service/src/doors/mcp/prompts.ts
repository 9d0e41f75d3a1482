import {
  type GetPromptResult,
  type Prompt,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server'
import { type GuideName, guides } from '../../market/guides/guides.ts'

interface Job extends Prompt {
  guide: GuideName
  /** The text of the task, built from the arguments. */
  task(args: Record<string, string>): string
}

const agent = { name: 'agent_id', description: 'The agent to act as.' }
const asAgent = ({ agent_id }: Record<string, string>) => (agent_id ? ` Act as agent ${agent_id}.` : '')

const jobs: readonly Job[] = [
  {
    name: 'find_and_buy',
    title: 'Find and buy something',
    description: 'Finds the best product for a need, reads its reviews and buys it within a budget.',
    arguments: [
      { name: 'want', description: 'What is wanted, in words.', required: true },
      { name: 'max_amount', description: 'The most to pay, in USDC base units (1 USDC = 1000000).' },
      agent,
    ],
    guide: 'buying',
    task: ({ want, max_amount, ...args }) =>
      `Find and buy this: ${want}.${asAgent(args)} ${
        max_amount
          ? `Pay at most ${max_amount} USDC base units, and pass that as max_amount.`
          : 'Before you pay, tell me the product, the price and why, and wait for my consent.'
      }`,
  },
  {
    name: 'review_purchase',
    title: 'Review what I bought',
    description: 'Votes on the reviews that helped and publishes an honest review of a purchase.',
    arguments: [
      { ...agent, required: true },
      { name: 'escrow_id', description: 'The purchase; left out, those that wait for a review.' },
      { name: 'experience', description: 'What it was like, in words.' },
    ],
    guide: 'reviewing',
    task: ({ escrow_id, experience, ...args }) =>
      `Review ${escrow_id ? `purchase ${escrow_id}` : 'my purchases that wait for a review'}.${asAgent(args)} ${
        experience ? `What it was like: ${experience}` : 'Ask me what it was like where you cannot know.'
      }`,
  },
  {
    name: 'earn_with_review',
    title: 'Earn with a review',
    description: 'Proves that an agent knows a product, publishes a review of it and follows what it earns.',
    arguments: [
      { ...agent, required: true },
      { name: 'knows', description: 'The product that is known well, or in which field to look.' },
    ],
    guide: 'earning',
    task: ({ knows, ...args }) =>
      `Earn commission with an honest review.${asAgent(args)} ${
        knows ? `What I know well: ${knows}` : 'Ask me which products I know well.'
      }`,
  },
]

export const prompts: readonly Prompt[] = jobs.map(({ guide: _guide, task: _task, ...prompt }) => prompt)

export function getPrompt(name: string, args: Record<string, string>): GetPromptResult {
  const job = jobs.find((each) => each.name === name)
  if (!job) throw invalid(`there is no prompt ${name.slice(0, 100)}; see prompts/list`)
  for (const argument of job.arguments ?? []) {
    if (argument.required && !args[argument.name]?.trim()) throw invalid(`${argument.name} is required`)
  }
  const text = `${job.task(args).trim()}\n\nThis is how it works here:\n\n${guides[job.guide]}`
  return {
    ...(job.description && { description: job.description }),
    messages: [{ role: 'user', content: { type: 'text', text } }],
  }
}

const invalid = (message: string) => new ProtocolError(ProtocolErrorCode.InvalidParams, message)
