import { PageTitle } from '../../../ui/parts.tsx'

export const DiscoverPage = () => <PageTitle title="Find a product" />
