import { PageTitle } from '../../../ui/parts.tsx'

export const ChatPage = () => <PageTitle title="My chat" />
