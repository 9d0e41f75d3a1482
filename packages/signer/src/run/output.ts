// What the runner says: one line for each step.
import { formatUnits } from 'viem'
import type { Context } from '../context.ts'
import { printable } from '../printable.ts'

export interface Output {
  say(line: string): void
  /** Says a line about something again only when it has changed: a step that is repeated with every poll would fill the log. */
  sayOnce(about: string, line: string): void
}

export function createOutput({ now }: Context, write: (text: string) => void): Output {
  const said = new Map<string, string>()
  const output: Output = {
    say: (line) => write(`${new Date(now()).toISOString().slice(11, 19)} ${printable(line)}\n`),
    sayOnce(about, line) {
      if (said.get(about) === line) return
      said.set(about, line)
      output.say(line)
    },
  }
  return output
}

export function usdc(baseUnits: bigint): string {
  const [whole = '', fraction = ''] = formatUnits(baseUnits, 6).split('.')
  return `${whole}.${fraction.padEnd(2, '0')} USDC`
}

export const nameOf = (intentId: string): string => `intent ${intentId.slice(0, 8)}`
