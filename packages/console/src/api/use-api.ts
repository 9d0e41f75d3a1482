import { useRouter } from '@tanstack/react-router'
import type { Api } from './api.ts'

/** The market's routes, for components that stand above the pages. */
export const useApi = (): Api => useRouter().options.context.api
