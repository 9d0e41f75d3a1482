export type { Command, Surroundings } from './command.ts'
export { COMMANDS, runCommand } from './referrer.ts'
