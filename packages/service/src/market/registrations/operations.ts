import { createLoader } from '@referrer/process'
import { type Context, once } from '../../kit/context.ts'
import { time } from '../../kit/json-values.ts'
import type { AgentKey } from '../../kit/keys.ts'
import type { RegistrationShown } from './shapes.ts'
import { findFiles } from './store.ts'

/** What the registration file of an agent or merchant says; undefined when none was read. */
export const registrationOf = (context: Context, key: AgentKey): Promise<RegistrationShown | undefined> =>
  read(context)(key)

const read = once(({ sql }) =>
  createLoader<AgentKey, RegistrationShown | undefined>({
    keyOf: ({ chainId, agentId }) => `${chainId}/${agentId}`,
    load: async (keys) =>
      (await findFiles(sql, keys)).map((row) => row && { ...row.file, read_at: time(row.read_at) }),
  }),
)
