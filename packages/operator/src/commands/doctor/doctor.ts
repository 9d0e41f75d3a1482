import { parseArgs } from 'node:util'
import type { Command } from '../../command.ts'
import type { Finding, Status } from './examination.ts'
import { examine } from './examine.ts'

export const doctor: Command = {
  name: 'doctor',
  summary: 'says what is wrong with a configuration, and what to do about it; changes nothing',
  help: () => `Looks at everything that \`referrer serve\` needs, and says what to fix. Changes nothing, and shows no secret.

Usage: referrer doctor [--roles <roles>] [--json]

  --roles <roles>  as for serve: any of api, indexer, workers, facilitator, separated by commas (default: the variable ROLES)
  --json           for machines: {"ok": …, "findings": [{"group", "check", "status", "found", "advice"}]}

The environment is that of \`referrer serve\`. One line for each check: ✓ fine, ! a warning, ✗ wrong, - not checked because something
else is wrong. The exit status is 1 if something is wrong.
`,
  async run(args, { env, configFile, print }) {
    const options = { roles: { type: 'string' }, json: { type: 'boolean', default: false } } as const
    const { values } = parseArgs({ args, options })
    const findings = await examine({ env, configFile, roles: values.roles, onProgress: tellProgress })
    const isOk = findings.every(({ status }) => status !== 'wrong')
    print(values.json ? `${JSON.stringify({ ok: isOk, findings }, null, 2)}\n` : report(findings))
    return isOk ? 0 : 1
  },
}

/** Not on stdout, which may be JSON. */
function tellProgress(waiting: readonly string[]): void {
  process.stderr.write(`still waiting for: ${waiting.join(', ')}\n`)
}

const MARKS: Record<Status, string> = { ok: '✓', warning: '!', wrong: '✗', skipped: '-' }

function report(findings: readonly Finding[]): string {
  const lines = findings.map(
    ({ status, group, check, found, advice }) =>
      `${MARKS[status]} ${group}: ${check}: ${found}${advice === undefined ? '' : ` → ${advice}`}\n`,
  )
  const count = (status: Status) => findings.filter((finding) => finding.status === status).length
  const summary = `${count('wrong')} wrong, ${count('warning')} warnings, ${count('ok')} fine, ${count('skipped')} not checked`
  return `${lines.join('')}\n${summary}\n`
}
