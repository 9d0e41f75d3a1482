import { formatEther } from 'viem'

const PLACES = 4
const SIGNIFICANT = 2
const MOST_ZEROS = 8

/** Wei as ETH with the digits that matter: `0.00012`, `1.25`. */
export function formatEth(wei: bigint): string {
  const [whole = '0', fraction = ''] = formatEther(wei).split('.')
  if (whole !== '0') {
    const places = fraction.slice(0, PLACES).replace(/0+$/, '')
    return places ? `${whole}.${places}` : whole
  }
  if (fraction === '') return '0'
  const zeros = fraction.length - fraction.replace(/^0+/, '').length
  if (zeros > MOST_ZEROS) return 'less than 0.000000001'
  return `0.${fraction.slice(0, zeros + SIGNIFICANT).replace(/0+$/, '')}`
}
