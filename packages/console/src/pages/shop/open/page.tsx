import { PageTitle } from '../../../ui/parts.tsx'

export const OpenShopPage = () => <PageTitle title="Open a shop" />
