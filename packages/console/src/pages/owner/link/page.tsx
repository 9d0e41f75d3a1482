import { PageTitle } from '../../../ui/parts.tsx'

export const LinkPage = () => <PageTitle title="Link a chat" />
