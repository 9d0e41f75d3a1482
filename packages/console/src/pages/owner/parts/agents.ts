import { useQuery } from '@tanstack/react-query'
import { read } from '../../../api/api.ts'
import { useApi } from '../../../api/use-api.ts'

/** The agents that an account owns. */
export const useOwnAgents = (owner: string) =>
  useQuery(read(useApi(), '/v1/agent', { params: { query: { owner } } }))
