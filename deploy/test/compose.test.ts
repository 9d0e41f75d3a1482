import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { type ComposeService, readCompose } from '../compose.ts'
import { list, read, readEnvFile } from './files.ts'

const compose = readCompose(readEnvFile('.env.example'))
const services = Object.entries(compose.services)
const ours = services.filter(([, { build }]) => build)
const networksOf = ({ networks }: ComposeService) =>
  Array.isArray(networks) ? networks : Object.keys(networks)
const isOutside = (name: string) => !compose.networks[name]?.internal

describe('compose.yaml', () => {
  const schema = JSON.parse(
    readFileSync(join(import.meta.dirname, 'compose-spec', 'compose-spec.json'), 'utf8'),
  )
  const validate = new Ajv({ strict: false, allErrors: true, logger: false, validateFormats: false }).compile(
    {
      ...schema,
      $schema: 'http://json-schema.org/draft-07/schema#',
    },
  )
  const problemsOf = (text: string) => {
    validate(parse(text, { merge: true }))
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
  }

  test('keeps the schema of the Compose Specification', () => {
    expect(problemsOf(read('compose.yaml'))).toEqual([])
  })

  test('is held to that schema: an unknown key or a wrong type is found', () => {
    expect(problemsOf(read('compose.yaml').replace('read_only: true', 'readonly: true'))).not.toEqual([])
    expect(problemsOf(read('compose.yaml').replace('pids_limit: 64', 'pids_limit: [64]'))).not.toEqual([])
  })

  test('has two replicas of the API, and one each of the others', () => {
    expect(ours.map(([name, { command }]) => [name, command?.join(' ')])).toEqual([
      ['migrate', 'migrate --roles api,facilitator'],
      ['api', 'serve --roles api'],
      ['workers', 'serve --roles indexer,workers'],
      ['facilitator', 'serve --roles facilitator'],
    ])
    expect(compose.services.api?.deploy.replicas).toBe(2)
  })

  test.each(services)('runs %s without rights that it does not need, within limits', (name, service) => {
    expect(service.user).toMatch(/^[1-9]\d*:[1-9]\d*$/)
    expect(service.read_only).toBe(true)
    expect(service.cap_drop).toEqual(['ALL'])
    expect(service.cap_add).toBeUndefined()
    expect(service.privileged).toBeUndefined()
    expect(service.security_opt).toEqual(['no-new-privileges:true'])
    expect(service.deploy.resources.limits.memory).toMatch(/^\d+[mg]$/)
    expect(service.pids_limit).toBeGreaterThan(0)
    expect(service.logging.options).toEqual({ 'max-size': '50m', 'max-file': '5' })
    expect(service.restart).toBe(name === 'migrate' ? 'no' : 'unless-stopped')
    const { test: command, disable } = service.healthcheck
    expect(disable ?? command?.[0] === 'CMD').toBe(true)
  })

  test('has images with a version, those of others with a digest', () => {
    for (const [, { image, build }] of services) {
      expect(image).toMatch(build ? /:\d+\.\d+\.\d+$/ : /^[\w/.-]+:\d+\.\d+[\w.-]*@sha256:[0-9a-f]{64}$/)
    }
  })

  test('publishes the ports of the proxy alone', () => {
    expect(services.filter(([, { ports }]) => ports).map(([name]) => name)).toEqual(['proxy'])
  })

  test('keeps Postgres and the figures off every network that leads outside', () => {
    const { postgres, proxy } = compose.services
    expect(networksOf(postgres as ComposeService).filter(isOutside)).toEqual([])
    expect(isOutside('metrics')).toBe(false)
    // What faces the internet reaches neither of them.
    expect(networksOf(proxy as ComposeService)).toEqual(['edge', 'front'])
  })

  test('lets the proxy alone say who a caller is', () => {
    const networks = compose.services.proxy?.networks as { front: { ipv4_address: string } }
    for (const name of ['api', 'facilitator']) {
      expect(compose.services[name]?.environment?.TRUSTED_PROXIES).toBe(networks.front.ipv4_address)
    }
    expect(compose.networks.front?.ipam?.config[0]?.subnet).toBe('10.77.0.0/24')
  })

  test('gives each program the secrets whose files it names, and no other', () => {
    for (const [name, { environment = {}, secrets = [] }] of ours) {
      const named = Object.values(environment).flatMap(
        (value) => value.match(/^\/run\/secrets\/(\w+)$/)?.[1] ?? [],
      )
      expect([name, [...new Set(named)].sort()]).toEqual([name, [...secrets].sort()])
    }
    const used = services.flatMap(([, { secrets = [] }]) => secrets)
    expect([...new Set(used)].sort()).toEqual(Object.keys(compose.secrets).sort())
  })

  test('gives no key to what the internet talks to', () => {
    for (const name of ['api', 'proxy', 'migrate']) {
      expect(
        compose.services[name]?.secrets?.filter((secret) => /private|attestation|relayer/.test(secret)),
      ).toEqual([])
    }
  })

  test('mounts files that are there', () => {
    const there = list('**')
    for (const [, { volumes = [] }] of services) {
      for (const volume of volumes) {
        const [from = ''] = volume.split(':')
        if (from.startsWith('.')) expect(there.some((path) => path.startsWith(join(from)))).toBe(true)
        else expect(Object.keys(compose.volumes)).toContain(from)
      }
    }
  })

  test('asks for the names that it cannot do without', () => {
    expect(() => readCompose({})).toThrow(/set \w+ in deploy\/\.env/)
  })

  test('builds from the Dockerfile', () => {
    expect(ours[0]?.[1].build).toEqual({ context: '..', dockerfile: 'deploy/Dockerfile' })
  })
})
