import { variables as facilitatorVariables } from '@referrer/facilitator'
import { variables as marketVariables } from '@referrer/service'
import { describe, expect, test } from 'vitest'
import { readCompose } from '../compose.ts'
import { list, podSpecs, read, readEnvFile } from './files.ts'
import { environmentOf, parseUnit, valuesOf } from './systemd-units.ts'

interface Setting {
  where: string
  /** What follows `referrer` on the command line. */
  command: string
  environment: Record<string, string>
}

function* ofCompose(): Generator<Setting> {
  for (const [name, { build, command = [], environment = {} }] of Object.entries(
    readCompose(readEnvFile('.env.example')).services,
  )) {
    if (build) yield { where: `compose ${name}`, command: command.join(' '), environment }
  }
}

function* ofKubernetes(): Generator<Setting> {
  for (const { name, pod } of podSpecs()) {
    for (const { args, env, envFrom } of pod.containers) {
      const maps = envFrom.flatMap(({ configMapRef }) => {
        const file = `${configMapRef.name.replace('referrer-', '')}.env`
        return ['base', 'overlays/example'].map((folder) => readEnvFile(`kustomize/${folder}/${file}`))
      })
      const own = Object.fromEntries(env.map(({ name, value }) => [name, value]))
      yield {
        where: `kubernetes ${name}`,
        command: args.join(' '),
        environment: Object.assign({}, ...maps, own),
      }
    }
  }
}

function* ofSystemd(): Generator<Setting> {
  for (const file of list('systemd/*.service')) {
    const unit = parseUnit(read(file))
    const [start = ''] = valuesOf(unit, 'Service', 'ExecStart')
    const files = valuesOf(unit, 'Service', 'EnvironmentFile').map((path) =>
      readEnvFile(path.replace('/etc/referrer/', 'systemd/').concat('.example')),
    )
    yield {
      where: file,
      command: start.replace(/^.*main\.ts /, ''),
      environment: Object.assign({}, ...files, environmentOf(unit)),
    }
  }
}

const settings = [...ofCompose(), ...ofKubernetes(), ...ofSystemd()].map(
  (setting) => [setting.where, setting] as const,
)
const tableOf = ({ command }: Setting) =>
  command.includes('facilitator') ? facilitatorVariables : marketVariables
/** `NAME_FILE` names a file with the value of `NAME`. */
const isKnown = (name: string, table: object) => name in table || name.replace(/_FILE$/, '') in table
const isMigration = ({ command }: Setting) => command.startsWith('migrate')

describe('the settings in the files for machines', () => {
  test('are those of four programs, three times', () => {
    expect(settings).toHaveLength(12)
  })

  test.each(settings)('of %s are variables that the program knows', (_where, setting) => {
    const names = Object.keys(setting.environment)
    // Beside the market's the facilitator's variables have a prefix.
    const own = isMigration(setting) ? names.map((name) => name.replace(/^FACILITATOR_/, '')) : names
    const unknown = own.filter((name) => !isKnown(name, tableOf(setting)))
    expect(unknown).toEqual([])
  })

  test.each(settings)('of %s give what the program cannot do without', (_where, setting) => {
    const names = Object.keys(setting.environment).map((name) => name.replace(/_FILE$/, ''))
    expect(names).toContain('DATABASE_URL')
    if (isMigration(setting)) return expect(names).toContain('FACILITATOR_DATABASE_URL')
    expect(names).toContain('CHAINS')
    expect(names).toContain('TRUSTED_PROXIES')
    if (setting.command.includes('facilitator')) {
      for (const name of ['RELAYER_PRIVATE_KEYS', 'ATTESTATION_PUBLIC_KEYS', 'MARKET_URL', 'SETUP_URL'])
        expect(names).toContain(name)
    } else for (const name of ['PUBLIC_URL', 'FACILITATOR_URL']) expect(names).toContain(name)
    const publicParts = ['ATTESTATION_PUBLIC_KEYS', 'ORACLE_ADDRESS', 'PUBLISHER_ADDRESS']
    if (setting.command === 'serve --roles api') for (const name of publicParts) expect(names).toContain(name)
    const keys = ['ATTESTATION_KEYS', 'ORACLE_PRIVATE_KEY', 'PUBLISHER_PRIVATE_KEY']
    expect(names.filter((name) => keys.includes(name))).toEqual(
      setting.command.includes('workers') ? keys : [],
    )
    // Those who make secrets of webhooks, and those who sign with them.
    const isOfMarket = !setting.command.includes('facilitator')
    expect([setting.where, names.includes('WEBHOOK_KEYS')]).toEqual([setting.where, isOfMarket])
  })

  test.each(settings)('of %s show no secret: those are in files', (_where, { environment }) => {
    for (const [name, value] of Object.entries(environment)) {
      if (/(?<!PUBLIC_)KEY|SECRET|TOKEN|PASSWORD|DATABASE_URL/.test(name)) expect(name).toMatch(/_FILE$/)
      expect(value).not.toMatch(/0x[0-9a-f]{64}|:\/\/[^/]*:[^/]*@/i)
    }
  })
})

describe('all files for machines', () => {
  const files = list('**/*.*').filter((file) => !/\.ts$/.test(file))

  test('name no image by the tag latest', () => {
    for (const file of files)
      expect([file, /(image:|FROM) .*:latest/.test(read(file))]).toEqual([file, false])
  })

  test('have no key in them', () => {
    for (const file of files) {
      expect([file, read(file).match(/0x[0-9a-f]{64}|BEGIN [A-Z ]*PRIVATE KEY/gi)]).toEqual([file, null])
    }
  })
})
