// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IdentityRegistry} from "../IdentityRegistry.sol";

/// @title ERC-8004 reputation registry for the sandbox and for tests; never deployed to a public network
/// @notice Public networks have one deployed; the market uses that. This one has the same functions, events and revert strings.
/// What stands here is nobody's proof: anybody may say anything of any agent, except its owner and operators.
contract ReputationRegistry {
    /// @notice What a client said of an agent.
    /// @param value The value, times 10^valueDecimals
    /// @param valueDecimals How many decimals the value has
    /// @param isRevoked Whether the client took it back
    /// @param tag1 What was measured
    /// @param tag2 A second tag
    struct Feedback {
        int128 value;
        uint8 valueDecimals;
        bool isRevoked;
        string tag1;
        string tag2;
    }

    /// @notice The answers to one feedback, by who gave them.
    /// @param responders Everybody who answered, each once
    /// @param counts How often each answered
    struct Answers {
        address[] responders;
        mapping(address responder => uint64) counts;
    }

    int128 private constant MAX_ABS_VALUE = 1e38;
    uint8 private constant MAX_DECIMALS = 18;

    IdentityRegistry private immutable IDENTITIES;
    mapping(uint256 agentId => address[]) private _clients;
    /// @dev The element at index - 1 is the feedback with that index.
    mapping(uint256 agentId => mapping(address client => Feedback[])) private _given;
    mapping(uint256 agentId => mapping(address client => mapping(uint64 index => Answers))) private _answers;

    /// @notice A client gave feedback about an agent.
    /// @param agentId Whom it is about
    /// @param clientAddress Who gave it
    /// @param feedbackIndex Which one of this client about this agent; counts from 1
    /// @param value The value, times 10^valueDecimals
    /// @param valueDecimals How many decimals the value has, 18 at most
    /// @param indexedTag1 The first tag again, indexed: the topic is its keccak256
    /// @param tag1 What was measured; empty for none
    /// @param tag2 A second tag; empty for none
    /// @param endpoint What was used; empty for none
    /// @param feedbackURI Where more is told; empty for nowhere
    /// @param feedbackHash keccak256 of what is told there; zero for none
    event NewFeedback(
        uint256 indexed agentId,
        address indexed clientAddress,
        uint64 feedbackIndex,
        int128 value,
        uint8 valueDecimals,
        string indexed indexedTag1,
        string tag1,
        string tag2,
        string endpoint,
        string feedbackURI,
        bytes32 feedbackHash
    );
    /// @notice A client took feedback back.
    /// @param agentId Whom it was about
    /// @param clientAddress Who gave it
    /// @param feedbackIndex Which one of this client about this agent
    event FeedbackRevoked(
        uint256 indexed agentId, address indexed clientAddress, uint64 indexed feedbackIndex
    );
    /// @notice Somebody answered feedback.
    /// @param agentId Whom the feedback is about
    /// @param clientAddress Who gave it
    /// @param feedbackIndex Which one of this client about this agent
    /// @param responder Who answered
    /// @param responseURI Where the answer is
    /// @param responseHash keccak256 of the answer; zero for none
    event ResponseAppended(
        uint256 indexed agentId,
        address indexed clientAddress,
        uint64 feedbackIndex,
        address indexed responder,
        string responseURI,
        bytes32 responseHash
    );

    /// @param identityRegistry Names the agents and who acts for them; not zero
    constructor(address identityRegistry) {
        require(identityRegistry != address(0), "bad identity");
        IDENTITIES = IdentityRegistry(identityRegistry);
    }

    /// @notice Gives feedback about an agent. Its owner and operators may not.
    /// @param agentId Whom it is about; reverts when there is no such agent
    /// @param value The value, times 10^valueDecimals; at most 1e38 from zero
    /// @param valueDecimals How many decimals the value has, 18 at most
    /// @param tag1 What was measured; empty for none
    /// @param tag2 A second tag; empty for none
    /// @param endpoint What was used; empty for none. Told in the event only
    /// @param feedbackURI Where more is told; empty for nowhere. Told in the event only
    /// @param feedbackHash keccak256 of what is told there; zero for none. Told in the event only
    function giveFeedback(
        uint256 agentId,
        int128 value,
        uint8 valueDecimals,
        string calldata tag1,
        string calldata tag2,
        string calldata endpoint,
        string calldata feedbackURI,
        bytes32 feedbackHash
    ) external {
        require(valueDecimals <= MAX_DECIMALS, "too many decimals");
        require(-MAX_ABS_VALUE <= value && value <= MAX_ABS_VALUE, "value too large");
        require(!IDENTITIES.isAuthorizedOrOwner(msg.sender, agentId), "Self-feedback not allowed");
        Feedback[] storage given = _given[agentId][msg.sender];
        if (given.length == 0) _clients[agentId].push(msg.sender);
        given.push(Feedback(value, valueDecimals, false, tag1, tag2));
        emit NewFeedback(
            agentId,
            msg.sender,
            uint64(given.length),
            value,
            valueDecimals,
            tag1,
            tag1,
            tag2,
            endpoint,
            feedbackURI,
            feedbackHash
        );
    }

    /// @notice Takes feedback of the caller back. It stays readable, marked as revoked.
    /// @param agentId Whom it is about
    /// @param feedbackIndex Which one of the caller about this agent, from 1
    function revokeFeedback(uint256 agentId, uint64 feedbackIndex) external {
        Feedback storage feedback = _feedback(agentId, msg.sender, feedbackIndex);
        require(!feedback.isRevoked, "Already revoked");
        feedback.isRevoked = true;
        emit FeedbackRevoked(agentId, msg.sender, feedbackIndex);
    }

    /// @notice Answers feedback. Anybody may, again and again.
    /// @param agentId Whom the feedback is about
    /// @param clientAddress Who gave it
    /// @param feedbackIndex Which one of this client about this agent, from 1
    /// @param responseURI Where the answer is, not empty
    /// @param responseHash keccak256 of the answer; zero for none
    function appendResponse(
        uint256 agentId,
        address clientAddress,
        uint64 feedbackIndex,
        string calldata responseURI,
        bytes32 responseHash
    ) external {
        _feedback(agentId, clientAddress, feedbackIndex);
        require(bytes(responseURI).length > 0, "Empty URI");
        Answers storage answers = _answers[agentId][clientAddress][feedbackIndex];
        if (answers.counts[msg.sender]++ == 0) answers.responders.push(msg.sender);
        emit ResponseAppended(agentId, clientAddress, feedbackIndex, msg.sender, responseURI, responseHash);
    }

    /// @notice The registry of the agents.
    /// @return Its address
    function getIdentityRegistry() external view returns (address) {
        return address(IDENTITIES);
    }

    /// @notice How often a client gave feedback about an agent.
    /// @param agentId Whom it is about
    /// @param clientAddress Who gave it
    /// @return The index of its last one; 0 when it gave none
    function getLastIndex(uint256 agentId, address clientAddress) external view returns (uint64) {
        return uint64(_given[agentId][clientAddress].length);
    }

    /// @notice Everybody who gave feedback about an agent, in the order of the first one.
    /// @param agentId Whom it is about
    /// @return The clients, each once
    function getClients(uint256 agentId) external view returns (address[] memory) {
        return _clients[agentId];
    }

    /// @notice Reads feedback.
    /// @param agentId Whom it is about
    /// @param clientAddress Who gave it
    /// @param feedbackIndex Which one of this client about this agent, from 1
    /// @return value The value, times 10^valueDecimals
    /// @return valueDecimals How many decimals the value has
    /// @return tag1 What was measured
    /// @return tag2 A second tag
    /// @return isRevoked Whether the client took it back
    function readFeedback(uint256 agentId, address clientAddress, uint64 feedbackIndex)
        external
        view
        returns (int128 value, uint8 valueDecimals, string memory tag1, string memory tag2, bool isRevoked)
    {
        Feedback storage feedback = _feedback(agentId, clientAddress, feedbackIndex);
        return (feedback.value, feedback.valueDecimals, feedback.tag1, feedback.tag2, feedback.isRevoked);
    }

    /// @notice The average of what clients said, without what was revoked. The caller names the clients: anybody can write here
    /// under any number of addresses.
    /// @param agentId Whom it is about
    /// @param clientAddresses Whose feedback counts, not empty
    /// @param tag1 Only feedback with this first tag; empty for all
    /// @param tag2 Only feedback with this second tag; empty for all
    /// @return count How many feedbacks there are
    /// @return summaryValue Their average, times 10^summaryValueDecimals
    /// @return summaryValueDecimals The decimals that most of them have; the fewest of these
    function getSummary(
        uint256 agentId,
        address[] calldata clientAddresses,
        string calldata tag1,
        string calldata tag2
    ) external view returns (uint64 count, int128 summaryValue, uint8 summaryValueDecimals) {
        require(clientAddresses.length > 0, "clientAddresses required");
        int256 sum;
        uint64[MAX_DECIMALS + 1] memory seen;
        for (uint256 i = 0; i < clientAddresses.length; ++i) {
            Feedback[] storage given = _given[agentId][clientAddresses[i]];
            for (uint256 j = 0; j < given.length; ++j) {
                Feedback storage feedback = given[j];
                if (!_matches(feedback, tag1, tag2, false)) continue;
                sum += int256(feedback.value) * int256(10 ** uint256(MAX_DECIMALS - feedback.valueDecimals));
                ++seen[feedback.valueDecimals];
                ++count;
            }
        }
        if (count == 0) return (0, 0, 0);
        for (uint8 decimals = 1; decimals <= MAX_DECIMALS; ++decimals) {
            if (seen[decimals] > seen[summaryValueDecimals]) summaryValueDecimals = decimals;
        }
        int256 average = sum / int256(uint256(count));
        summaryValue = int128(average / int256(10 ** uint256(MAX_DECIMALS - summaryValueDecimals)));
    }

    /// @notice Reads all feedback about an agent at once. Off-chain only: there may be any number of it.
    /// @param agentId Whom it is about
    /// @param clientAddresses Whose feedback; empty for everybody's
    /// @param tag1 Only feedback with this first tag; empty for all
    /// @param tag2 Only feedback with this second tag; empty for all
    /// @param includeRevoked Whether what was taken back is read, too
    /// @return clients Who gave each
    /// @return feedbackIndexes Which one of its client about this agent each is
    /// @return values The values, each times 10^valueDecimals
    /// @return valueDecimals How many decimals each value has
    /// @return tag1s The first tags
    /// @return tag2s The second tags
    /// @return revokedStatuses Whether each was taken back
    function readAllFeedback(
        uint256 agentId,
        address[] calldata clientAddresses,
        string calldata tag1,
        string calldata tag2,
        bool includeRevoked
    )
        external
        view
        returns (
            address[] memory clients,
            uint64[] memory feedbackIndexes,
            int128[] memory values,
            uint8[] memory valueDecimals,
            string[] memory tag1s,
            string[] memory tag2s,
            bool[] memory revokedStatuses
        )
    {
        address[] memory asked = clientAddresses;
        if (asked.length == 0) asked = _clients[agentId];
        uint256 count;
        for (uint256 i = 0; i < asked.length; ++i) {
            Feedback[] storage given = _given[agentId][asked[i]];
            for (uint256 j = 0; j < given.length; ++j) {
                if (_matches(given[j], tag1, tag2, includeRevoked)) ++count;
            }
        }
        clients = new address[](count);
        feedbackIndexes = new uint64[](count);
        values = new int128[](count);
        valueDecimals = new uint8[](count);
        tag1s = new string[](count);
        tag2s = new string[](count);
        revokedStatuses = new bool[](count);
        count = 0;
        for (uint256 i = 0; i < asked.length; ++i) {
            Feedback[] storage given = _given[agentId][asked[i]];
            for (uint256 j = 0; j < given.length; ++j) {
                Feedback storage feedback = given[j];
                if (!_matches(feedback, tag1, tag2, includeRevoked)) continue;
                clients[count] = asked[i];
                feedbackIndexes[count] = uint64(j + 1);
                values[count] = feedback.value;
                valueDecimals[count] = feedback.valueDecimals;
                tag1s[count] = feedback.tag1;
                tag2s[count] = feedback.tag2;
                revokedStatuses[count] = feedback.isRevoked;
                ++count;
            }
        }
    }

    /// @notice How many answers there are.
    /// @param agentId Whom the feedback is about
    /// @param clientAddress Who gave it; zero for everybody
    /// @param feedbackIndex Which one of this client; 0 for all
    /// @param responders Whose answers; empty for everybody's
    /// @return count How many answers there are
    function getResponseCount(
        uint256 agentId,
        address clientAddress,
        uint64 feedbackIndex,
        address[] calldata responders
    ) external view returns (uint64 count) {
        address[] memory clients = _clients[agentId];
        if (clientAddress != address(0)) {
            clients = new address[](1);
            clients[0] = clientAddress;
            if (feedbackIndex != 0) return _answerCount(agentId, clientAddress, feedbackIndex, responders);
        }
        for (uint256 i = 0; i < clients.length; ++i) {
            uint256 last = _given[agentId][clients[i]].length;
            for (uint64 index = 1; index <= last; ++index) {
                count += _answerCount(agentId, clients[i], index, responders);
            }
        }
    }

    /// @notice The version of the ERC-8004 reference registry that this one follows.
    /// @return The version, as `major.minor.patch`
    function getVersion() external pure returns (string memory) {
        return "2.0.0";
    }

    function _feedback(uint256 agentId, address client, uint64 index) private view returns (Feedback storage) {
        require(index > 0, "index must be > 0");
        Feedback[] storage given = _given[agentId][client];
        require(index <= given.length, "index out of bounds");
        return given[index - 1];
    }

    function _matches(Feedback storage feedback, string calldata tag1, string calldata tag2, bool includeRevoked)
        private
        view
        returns (bool)
    {
        return (includeRevoked || !feedback.isRevoked) && _isTag(feedback.tag1, tag1) && _isTag(feedback.tag2, tag2);
    }

    function _isTag(string memory tag, string calldata wanted) private pure returns (bool) {
        return bytes(wanted).length == 0 || keccak256(bytes(tag)) == keccak256(bytes(wanted));
    }

    function _answerCount(uint256 agentId, address client, uint64 index, address[] calldata responders)
        private
        view
        returns (uint64 count)
    {
        Answers storage answers = _answers[agentId][client][index];
        address[] memory asked = responders;
        if (asked.length == 0) asked = answers.responders;
        for (uint256 i = 0; i < asked.length; ++i) {
            count += answers.counts[asked[i]];
        }
    }
}
