import type { Sql } from '@referrer/database'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { routes } from '../../app/routes.ts'
import { testApp } from '../../app/testing.ts'
import { id } from '../../kit/fields.ts'
import { type Auth, route } from '../../kit/route.ts'
import { describeRoutes } from './openapi.ts'
import { testConfig, testContext } from './testing.ts'

type Json = Record<string, unknown>
interface Operation {
  operationId: string
  security?: Json[]
  parameters?: { name: string; in: string; required: boolean }[]
  responses: Record<string, { content?: Record<string, { schema: Json; examples?: Json }> }>
}
interface Document {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Json }
}

// With a bot, webhooks and accounts of a sandbox, so that every route is served.
const config = testConfig({
  WEBHOOK_KEYS: '11'.repeat(32),
  TELEGRAM_BOT_TOKEN: '1:nobody',
  TELEGRAM_BOT_NAME: 'referrer_test_bot',
  CONSOLE_ACCOUNTS: JSON.stringify([{ name: 'buyer', private_key: `0x${'11'.repeat(32)}` }]),
})
const app = testApp(testContext((async () => []) as unknown as Sql, { config }).context)
let document: Document

beforeAll(async () => {
  document = (await app.inject('/openapi.json')).json()
})
afterAll(() => app.close())

const operations = () =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      path,
      operation,
    })),
  )

/** All routes of the app, like `GET /v1/review/{id}`, without the reference's own pages and the HEAD routes that Fastify adds. */
function served(): string[] {
  const parents: string[] = []
  const found: string[] = []
  for (const line of app.printRoutes({ commonPrefix: false }).split('\n')) {
    const [, branches = '', segment = '', methods] = /^([│ ]*(?:├|└)── )(\S+)(?: \((.+)\))?$/.exec(line) ?? []
    if (!branches) continue
    const depth = branches.length / 4
    parents.length = depth - 1
    const path = `${parents.join('')}${segment}`
    parents.push(segment)
    for (const method of methods?.split(', ') ?? []) {
      // These are pages, and the MCP and A2A endpoints, which describe themselves.
      if (['HEAD', 'OPTIONS'].includes(method) || /^\/(docs(\/|$)|(mcp|a2a)$)/.test(path)) continue
      found.push(`${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`)
    }
  }
  return found
}

describe('the OpenAPI document', () => {
  it('is valid OpenAPI 3.1', async () => {
    const validator = new Validator()
    expect(await validator.validate(structuredClone(document) as unknown as Json)).toEqual({ valid: true })
    expect(validator.version).toBe('3.1')
  })

  it('has every route that is served, and no other', () => {
    expect(
      operations()
        .map(({ name }) => name)
        .sort(),
    ).toEqual(served().sort())
    expect(served().length).toBeGreaterThan(routes.length)
  })

  it('names every operation once', () => {
    const names = operations().map(({ operation }) => operation.operationId)
    expect(new Set(names).size).toBe(names.length)
    for (const name of names) expect(name).toMatch(/^(get|post|put|delete)[A-Z][A-Za-z0-9]*$/)
  })

  it('declares the parameters of every path', () => {
    for (const { name, path, operation } of operations()) {
      const declared = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path')
      const written = [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter)
      expect(declared.map((parameter) => parameter.name).sort(), name).toEqual(written.sort())
      expect(declared.every(({ required }) => required)).toBe(true)
    }
  })

  it('has nothing of our own notation in its schemas, and every reference leads somewhere', () => {
    const names = new Set(Object.keys(document.components.schemas))
    const visit = (value: unknown, isNames = false): void => {
      if (Array.isArray(value)) for (const item of value) visit(item)
      else if (value && typeof value === 'object') {
        for (const [key, child] of Object.entries(value)) {
          if (!isNames)
            expect(['id', 'shown', 'refusal', 'absent', 'about', '$defs', '$schema']).not.toContain(key)
          if (key === '$ref') expect(names).toContain(String(child).replace('#/components/schemas/', ''))
          visit(child, ['properties', 'schemas', 'paths', 'examples'].includes(key) && !isNames)
        }
      }
    }
    visit(document)
  })

  it('says of every operation who may call it, and of those for everybody that there is nothing to show', () => {
    const signed = { timestamp: [], signature: [] }
    const securityOf: Record<Auth, unknown> = {
      none: [],
      caller: [signed, { session: [] }],
      'sign-in': expect.arrayContaining([signed]),
      session: [{ session: [] }],
      admin: [{ session: [] }],
      console: [{ console: [] }],
    }
    for (const { method, path, auth } of routes) {
      expect(document.paths[path]?.[method.toLowerCase()], path).toMatchObject({ security: securityOf[auth] })
    }
    for (const { name, operation } of operations()) expect(operation, name).toHaveProperty('security')
  })

  it('shows a 401 with what is wrong on every route that asks who calls', () => {
    const signed = routes.filter(({ auth }) => auth !== 'none')
    expect(signed.length).toBeGreaterThan(0)
    for (const { method, path } of signed) {
      const refusal = document.paths[path]?.[method.toLowerCase()]?.responses['401']
      expect(refusal?.content?.['application/json']?.schema, `${method} ${path}`).toEqual({
        $ref: '#/components/schemas/Unauthorized',
      })
    }
  })

  it('gives examples that fit the schemas they stand beside', () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false })
    ajv.addSchema(document, 'document')
    const refusals = operations().flatMap(({ name, operation: { responses } }) =>
      Object.values(responses).flatMap(({ content = {} }) =>
        Object.values(content).flatMap(({ schema, examples = {} }) =>
          Object.values(examples).map((example) => ({
            name,
            schema,
            example: example as { value: unknown },
          })),
        ),
      ),
    )
    expect(refusals.length).toBeGreaterThan(50)
    for (const { name, schema, example } of refusals) {
      const fits = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"document#/')))
      expect(fits(example.value), `${name} ${JSON.stringify(example.value)}`).toBe(true)
    }
  })

  it.each(['/healthz', '/readyz', '/openapi.json'])('says what %s answers', async (path) => {
    const answer = await app.inject(path)
    const schema =
      document.paths[path]?.get?.responses[answer.statusCode]?.content?.['application/json']?.schema
    const ajv = new Ajv2020({ strict: false })
    ajv.addSchema(document, 'document')
    const fits = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"document#/')))
    fits(answer.json())
    expect(fits.errors).toBeNull()
  })
})

describe('a route in the document', () => {
  const described = (spec: Parameters<typeof route>[0]) =>
    describeRoutes([route(spec)], { baseUrl: 'https://market.test', version: '1' })
  const basics = { method: 'GET', tag: 'Things', summary: 'A thing', auth: 'none' } as const

  it('lists every text that it can refuse with, in the order in which they are checked', () => {
    const { paths } = describeRoutes(
      [
        route({
          ...basics,
          path: '/v1/thing/{id}',
          params: z.object({ id: id(1, 'invalid thing id', 'Which one.') }),
          query: z.object({ size: id(0, 'invalid size', 'How big.').meta({ absent: 'size required' }) }),
          takesChain: true,
          refusals: { 400: 'too big', 404: 'thing not found' },
          handle: () => ({}),
        }),
      ],
      { baseUrl: 'https://market.test', version: '1' },
    )
    const { operationId, parameters, responses } = (paths['/v1/thing/{id}'] as { get: Operation }).get
    expect(operationId).toBe('getThingById')
    expect(parameters?.map(({ name, required }) => [name, required])).toEqual([
      ['id', true],
      ['size', true],
      ['chain_id', false],
    ])
    const texts = (status: number) =>
      Object.values(responses[status]?.content?.['application/json']?.examples ?? {}).map(
        (example) => (example as { value: { error: string } }).value.error,
      )
    expect(texts(400)).toEqual([
      'invalid thing id',
      'size required',
      'invalid size',
      'too big',
      'invalid chain_id',
      'chain_id not configured',
    ])
    expect(texts(404)).toEqual(['thing not found'])
    expect(Object.keys(responses)).toEqual(['200', '400', '404', '429', '500'])
  })

  it('cannot share the name of its schema with another one', () => {
    const called = (shape: z.ZodRawShape) => z.object(shape).meta({ id: 'Thing' })
    const both = [
      { ...basics, path: '/a', response: called({ a: z.string() }), handle: () => ({}) },
      { ...basics, path: '/b', response: called({ b: z.string() }), handle: () => ({}) },
    ]
    expect(() => describeRoutes(both.map(route), { baseUrl: 'https://market.test', version: '1' })).toThrow(
      'two schemas are called Thing',
    )
    expect(
      described({ ...basics, path: '/', response: called({}), handle: () => ({}) }).components.schemas,
    ).toHaveProperty('Thing')
  })
})
