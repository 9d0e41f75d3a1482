import { describe, expect, test } from 'vitest'
import { databaseUrl, hostsUrl, isDatabaseUrl, readAddress } from './address.ts'

const hosts = (url: string) => readAddress(url).hosts.map(({ name, port }) => `${name} ${port}`)

describe('the address of a database', () => {
  test('names one server, or several as libpq writes them', () => {
    expect(hosts('postgres://me:p%40ss@db.example/market')).toEqual(['db.example 5432'])
    expect(hosts('postgres://me@a:6000,b,[::1]:7000/market')).toEqual(['a 6000', 'b 5432', '::1 7000'])
    expect(hosts('postgres://me@%2Frun%2Fa,%2Frun%2Fb:6000/market')).toEqual(['/run/a 5432', '/run/b 6000'])
    expect(hosts('postgres://me@/market?host=a,b&port=6000,7000')).toEqual(['a 6000', 'b 7000'])
    expect(hosts('postgres://me@ignored/market?host=a,/run/b&port=6000')).toEqual(['a 6000', '/run/b 6000'])
  })

  test('asks for a server that takes writes when there are several, or as it says', () => {
    const isWritten = (url: string) => readAddress(url).isWritten
    expect(isWritten('postgres://me@a/market')).toBe(false)
    expect(isWritten('postgres://me@a/market?target_session_attrs=read-write')).toBe(true)
    expect(isWritten('postgres://me@a,b/market')).toBe(true)
    expect(isWritten('postgres://me@a,b/market?target_session_attrs=any')).toBe(false)
    expect(() => readAddress('postgres://me:secret@a,b/market?target_session_attrs=standby')).toThrow(
      'target_session_attrs is any, read-write, primary here',
    )
  })

  test('leaves nothing to the server that only a client understands', () => {
    const { url } = readAddress(
      'postgres://me@a:1,b:2/market?host=c&port=3&sslmode=require&gssencmode=disable',
    )
    expect(url.search).toBe('?sslmode=require')
  })

  test('is refused when a port or a host makes no sense', () => {
    const bad = ['a:1:2', 'a:99999', 'a:x,b', '/market?host=a,b,c&port=1,2'].map(
      (place) => `postgres://me@${place}`,
    )
    for (const url of bad) expect(isDatabaseUrl(url), url).toBe(false)
  })

  test('is put together for several servers and for another database', () => {
    const url = hostsUrl(['postgres://me@a:1/market', 'postgres://me@b:2/market'])
    expect(url).toBe('postgres://me@a:1,b:2/market')
    expect(databaseUrl(`${url}?sslmode=require`, 'till')).toBe('postgres://me@a:1,b:2/till?sslmode=require')
  })
})
