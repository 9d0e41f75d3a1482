import type { Sql } from '@referrer/database'
import { lintDocument } from '@referrer/process/openapi/testing'
import { afterAll, expect, it } from 'vitest'
import { testApp } from '../../app/testing.ts'
import { testContext } from './testing.ts'

const app = testApp(testContext((async () => []) as unknown as Sql).context)
afterAll(() => app.close())

it('other people’s linters find nothing wrong with the OpenAPI document', async () => {
  const document = (await app.inject('/openapi.json')).json()
  expect(await lintDocument(document)).toEqual([])
})
