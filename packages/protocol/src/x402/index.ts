export * as Extensions from './extensions.ts'
export {
  decodeHeader,
  encodeHeader,
  MAX_HEADER_CHARS,
  PAYMENT_REQUIRED_HEADER,
  PAYMENT_RESPONSE_HEADER,
  PAYMENT_SIGNATURE_HEADER,
  REFERRER_ATTRIBUTION_SALT_HEADER,
  REFERRER_BUYER_AGENT_ID_HEADER,
  REFERRER_TOKEN_HEADER,
  VERSION,
} from './headers.ts'
export * as Network from './network.ts'
export * as PaymentPayload from './payment-payload.ts'
export * as PaymentRequired from './payment-required.ts'
export * as PaymentRequirements from './payment-requirements.ts'
export * as SettleRequest from './settle-request.ts'
export * as SettleResponse from './settle-response.ts'
export * as SupportedResponse from './supported-response.ts'
export * as VerifyResponse from './verify-response.ts'
