import { notFound } from '@tanstack/react-router'
import { isNotFound } from '../api/error.ts'

/** What a page is about: when the market does not know it, there is no such page. */
export const required = <T>(asked: Promise<T>): Promise<T> =>
  asked.catch((error: unknown) => {
    throw isNotFound(error) ? notFound() : error
  })
