import { useQuery } from '@tanstack/react-query'
import { read } from '../api/api.ts'
import { useApi } from '../api/use-api.ts'

/** The market's first chain, which its pages show. */
export function useMarketChain(): { chainId: number | undefined; error: unknown } {
  const { data, error } = useQuery({
    ...read(useApi(), '/.well-known/referrer-agent'),
    staleTime: Number.POSITIVE_INFINITY,
  })
  return { chainId: data?.chains[0]?.chainId, error }
}
