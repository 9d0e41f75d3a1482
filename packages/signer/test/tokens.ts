// Counts what a model reads of the two servers before it does anything.
import type { Client } from '@modelcontextprotocol/client'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'

export interface Cost {
  what: string
  tokens: number
}

/** The tokens of `tools/list` and of the instructions. */
export async function costOf(client: Client): Promise<{ total: number; parts: Cost[] }> {
  const { tools } = await client.listTools()
  const instructions = countTokens(client.getInstructions() ?? '')
  const parts = tools.map((tool) => ({ what: tool.name, tokens: countTokens(JSON.stringify(tool)) }))
  return {
    total: instructions + countTokens(JSON.stringify(tools)),
    parts: [{ what: 'instructions', tokens: instructions }, ...parts],
  }
}

export const tableOf = (parts: Cost[]): string =>
  parts.map(({ what, tokens }) => `${String(tokens).padStart(6)}  ${what}`).join('\n')
