import { PageTitle } from '../../../ui/parts.tsx'

export const MerchantPage = () => <PageTitle title="A merchant" />
