// A caller that validates every answer against the schema in `tools/list` and against the whole one.
import { Ajv2020, type AnySchema, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { TestMarket } from '../http/market.ts'
import { connectMcp, explainedBy, type McpCaller, type ToolAnswer } from './client.ts'

export interface CheckedCaller extends McpCaller {
  /** The answer of a call that must succeed. */
  ok(name: string, args?: Record<string, unknown>): Promise<ToolAnswer['structured']>
  /** The message of a call that must fail. */
  refusal(name: string, args?: Record<string, unknown>): Promise<string>
}

export async function connectChecked(market: Pick<TestMarket, 'service'>): Promise<CheckedCaller> {
  const { call: send, ...caller } = await connectMcp(market)
  const validators = await validatorsOf(caller)

  async function call(name: string, args?: Record<string, unknown>): Promise<ToolAnswer> {
    const answer = await send(name, args)
    const violation = answer.isError ? errorViolation(answer) : answerViolation(answer, validators.get(name))
    if (violation) throw new Error(`${name} broke its promise: ${violation}\n${answer.text}`)
    return answer
  }
  return {
    ...caller,
    call,
    async ok(name, args) {
      const { isError, text, structured } = await call(name, args)
      if (isError) throw new Error(`${name} was refused: ${text}`)
      return structured
    },
    async refusal(name, args) {
      const { isError, text } = await call(name, args)
      if (!isError) throw new Error(`${name} was not refused: ${text}`)
      return text
    },
  }
}

async function validatorsOf({ client }: Pick<McpCaller, 'client'>): Promise<Map<string, ValidateFunction[]>> {
  const ajv = new Ajv2020({ strict: false })
  addFormats.default(ajv)
  const { tools } = await client.listTools()
  const compiled = tools.map(async (tool): Promise<[string, ValidateFunction[]]> => {
    const whole = await explainedBy(client, tool.name)
    const schemas = [tool, whole].map(({ outputSchema }) => (outputSchema ?? false) as AnySchema)
    return [tool.name, schemas.map((schema) => ajv.compile(schema))]
  })
  return new Map(await Promise.all(compiled))
}

function answerViolation(
  { text, structured }: ToolAnswer,
  validators: ValidateFunction[] | undefined,
): string | undefined {
  if (!validators) return 'it is not listed'
  if (JSON.stringify(JSON.parse(text)) !== JSON.stringify(structured)) return 'text and structure differ'
  const broken = validators.find((validate) => !validate(structured))
  return broken && `it does not fit its schema: ${JSON.stringify(broken.errors)}`
}

const errorViolation = ({ text, structured }: ToolAnswer) =>
  text === '' || structured !== undefined ? 'an error is text alone' : undefined
