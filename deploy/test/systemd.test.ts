import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { DEPLOY, list, read } from './files.ts'
import { environmentOf, parseUnit, valuesOf } from './systemd-units.ts'

// From systemd.unit(5), systemd.service(5), systemd.exec(5), systemd.kill(5) and systemd.resource-control(5) of systemd 252, the oldest
// that we support (Debian 12).
const KNOWN: Record<string, string> = {
  Unit: 'Description Documentation Wants Requires After PartOf',
  Install: 'WantedBy',
  Service: `Type RemainAfterExit ExecStart Restart RestartSec TimeoutStartSec TimeoutStopSec
    DynamicUser Environment EnvironmentFile LoadCredential UMask LimitNOFILE LimitCORE
    NoNewPrivileges CapabilityBoundingSet AmbientCapabilities ProtectSystem ProtectHome PrivateTmp PrivateDevices PrivateUsers
    ProtectClock ProtectHostname ProtectKernelLogs ProtectKernelModules ProtectKernelTunables ProtectControlGroups ProtectProc
    ProcSubset RestrictNamespaces RestrictRealtime RestrictSUIDSGID LockPersonality RemoveIPC KeyringMode RestrictAddressFamilies
    SystemCallArchitectures SystemCallFilter SystemCallErrorNumber KillSignal KillMode TasksMax MemoryMax`,
}

const files = [...list('systemd/*.{service,target}'), ...list('systemd/*.d/*.conf')]
const services = list('systemd/*.service').map(
  (file) => [file.slice('systemd/'.length), parseUnit(read(file))] as const,
)
const target = parseUnit(read('systemd/referrer.target'))

describe('the units of systemd', () => {
  test.each(['NODE_ENV', 'NODE_OPTIONS', 'MALLOC_MMAP_THRESHOLD_'])('set %s as the image does', (name) => {
    const ofImage = new RegExp(`\\b${name}=(\\S+)`).exec(read('Dockerfile'))?.[1]
    expect(ofImage).toBeDefined()
    expect(environmentOf(parseUnit(read('systemd/referrer-.service.d/common.conf')))[name]).toBe(ofImage)
  })

  test.each(files)('%s has directives that systemd 252 knows, in the right section', (file) => {
    for (const [section, directives] of Object.entries(parseUnit(read(file)))) {
      const known = KNOWN[section]?.split(/\s+/) ?? []
      for (const [directive] of directives) expect(known).toContain(directive)
    }
  })

  test('are all started by the target, and end with it', () => {
    const wanted = valuesOf(target, 'Unit', 'Wants').join(' ').split(' ')
    const templates = wanted.map((name) => name.replace(/@\d+/, '@'))
    expect([...new Set(templates)].sort()).toEqual(services.map(([name]) => name).sort())
    for (const [, unit] of services) expect(valuesOf(unit, 'Unit', 'PartOf')).toEqual(['referrer.target'])
  })

  test.each(services)('%s runs the command of the image, from where it is installed', (_name, unit) => {
    const [start = ''] = valuesOf(unit, 'Service', 'ExecStart')
    expect(start).toMatch(
      /^\/opt\/referrer\/usr\/local\/bin\/node \/opt\/referrer\/app\/packages\/operator\/src\/main\.ts (migrate|serve) --roles [a-z,]+$/,
    )
  })

  test.each(services)('%s gets each secret as a credential, by the path that it is told', (_name, unit) => {
    const credentials = valuesOf(unit, 'Service', 'LoadCredential').map((value) => value.split(':')[0])
    const named = Object.values(environmentOf(unit)).flatMap((value) => /^%d\/(\w+)$/.exec(value)?.[1] ?? [])
    expect(named.sort()).toEqual(credentials.sort())
  })

  test('are restarted when they end, but for the migration, which comes first', () => {
    for (const [name, unit] of services) {
      const isMigration = name === 'referrer-migrate.service'
      expect(valuesOf(unit, 'Service', 'Restart')).toEqual(isMigration ? [] : ['always'])
      if (isMigration) continue
      expect(valuesOf(unit, 'Unit', 'Requires')).toEqual(['referrer-migrate.service'])
      expect(valuesOf(unit, 'Unit', 'After')).toEqual(['referrer-migrate.service'])
    }
  })

  test('listen on ports that differ, on this machine alone', () => {
    const wanted = valuesOf(target, 'Unit', 'Wants').join(' ').split(' ')
    const ports = wanted.flatMap((name) => {
      const [template = '', instance = ''] = name.split(/(?<=@)|(?=\.service)/)
      const unit = new Map(services).get(name.replace(/@\d+/, '@'))
      const { HOST, PORT, METRICS_HOST, METRICS_PORT } = environmentOf(unit ?? {})
      if (!PORT) return []
      expect([template, HOST, METRICS_HOST]).toEqual([template, '127.0.0.1', '127.0.0.1'])
      return [PORT, METRICS_PORT].map((port) => port?.replace('%i', instance))
    })
    expect(ports).toHaveLength(8)
    expect(new Set(ports).size).toBe(8)
    const proxied = [...read('proxy/upstreams.local.conf').matchAll(/127\.0\.0\.1:(\d+)/g)].map(
      ([, port]) => port,
    )
    for (const port of proxied) expect(ports).toContain(port)
  })

  const analyzer = '/usr/bin/systemd-analyze'

  test.runIf(existsSync(analyzer))('are accepted by systemd itself, and exposed little', () => {
    const root = mkdtempSync(join(tmpdir(), 'referrer-units-'))
    try {
      const units = join(root, 'etc/systemd/system')
      cpSync(join(DEPLOY, 'systemd'), units, { recursive: true })
      mkdirSync(join(root, 'opt/referrer/usr/local/bin'), { recursive: true })
      writeFileSync(join(root, 'opt/referrer/usr/local/bin/node'), '#!/bin/sh\n', { mode: 0o755 })
      for (const name of ['sysinit', 'basic', 'shutdown', 'network-online', 'multi-user']) {
        writeFileSync(join(units, `${name}.target`), '[Unit]\nDescription=stands for that of the machine\n')
      }
      const names = valuesOf(target, 'Unit', 'Wants').join(' ').split(' ')
      const ask = (...args: string[]) => {
        const { status, stdout, stderr } = spawnSync(analyzer, [
          ...args,
          `--root=${root}`,
          '--man=no',
          ...names,
        ])
        return { status, said: `${stdout}${stderr}` }
      }
      expect(ask('verify')).toEqual({ status: 0, said: '' })
      // In tenths: systemd itself calls less than 2.0 "OK".
      expect(ask('security', '--offline=true', '--threshold=14', '--no-pager')).toMatchObject({ status: 0 })
    } finally {
      rmSync(root, { recursive: true, force: true })
    }
  })
})
