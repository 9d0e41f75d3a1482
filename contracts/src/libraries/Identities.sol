// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC721Errors} from "@openzeppelin/contracts/interfaces/draft-IERC6093.sol";
import {IIdentityRegistry} from "../interfaces/IIdentityRegistry.sol";

/// @title Lookup of an identity's owner and wallets
/// @notice No lookup reverts, and none costs more than 50,000 gas a question. Public identity registries can be upgraded: one that
/// reverts, burns gas, is gone or answers nonsense must not lock money. Such an answer is unreadable, and is told apart from a registry
/// that says that there is nobody.
/// @dev A caller cannot make a lookup unreadable by sending too little gas and still go on: a question takes 63/64 of what is left, and
/// the rest, less than 1,600 gas, is not enough to record anything.
library Identities {
    /// @notice The buyer id of a purchase that a wallet made without an agent. It is not zero, because agent 0 exists.
    uint256 internal constant AGENTLESS = type(uint256).max;

    /// @dev Several times what the reference registry behind its proxy needs.
    uint256 private constant GAS_PER_QUESTION = 50_000;

    /// @notice The owner of an identity.
    /// @param registry The ERC-8004 identity registry to ask
    /// @param agentId Id of the identity
    /// @return owner The owner; zero when there is no such identity or the registry is unreadable
    function findOwner(IIdentityRegistry registry, uint256 agentId) internal view returns (address owner) {
        (, owner) = readOwner(registry, agentId);
    }

    /// @notice The owner of an identity, and whether the registry could tell.
    /// @param registry The ERC-8004 identity registry to ask
    /// @param agentId Id of the identity
    /// @return readable Whether the registry answered
    /// @return owner The owner; zero when there is no such identity or the registry is unreadable
    function readOwner(IIdentityRegistry registry, uint256 agentId)
        internal
        view
        returns (bool readable, address owner)
    {
        return _ask(registry, IIdentityRegistry.ownerOf.selector, agentId);
    }

    /// @notice The agent wallet of an identity.
    /// @param registry The ERC-8004 identity registry to ask
    /// @param agentId Id of the identity
    /// @return wallet The wallet; zero when it is not set, there is no such identity, or the registry is unreadable
    function findWallet(IIdentityRegistry registry, uint256 agentId) internal view returns (address wallet) {
        (, wallet) = _ask(registry, IIdentityRegistry.getAgentWallet.selector, agentId);
    }

    /// @notice The wallet at which an identity is paid: its agent wallet if it has one, else its owner. The owner does not stand in
    /// for a wallet that the registry could not tell.
    /// @param registry The ERC-8004 identity registry to ask
    /// @param agentId Id of the identity
    /// @return readable Whether the registry answered all that had to be asked
    /// @return payee The wallet; zero when there is no such identity or the registry is unreadable
    function readPayee(IIdentityRegistry registry, uint256 agentId)
        internal
        view
        returns (bool readable, address payee)
    {
        (readable, payee) = _ask(registry, IIdentityRegistry.getAgentWallet.selector, agentId);
        if (readable && payee == address(0)) return readOwner(registry, agentId);
    }

    /// @dev `try` would not do: it catches neither missing code nor answers that are not addresses. Readable are a word that is an
    /// address (zero: nobody) and the error by which an ERC-721 says that there is no such token.
    function _ask(IIdentityRegistry registry, bytes4 question, uint256 agentId)
        private
        view
        returns (bool readable, address account)
    {
        bool ok;
        uint256 size;
        uint256 first;
        uint256 second;
        assembly ("memory-safe") {
            mstore(0, question)
            mstore(4, agentId)
            ok := staticcall(GAS_PER_QUESTION, registry, 0, 36, 0, 64)
            size := returndatasize()
            first := mload(0)
            second := mload(32)
        }
        if (!ok) {
            bool unknown = size == 36 && bytes4(bytes32(first)) == IERC721Errors.ERC721NonexistentToken.selector
                && (first << 32 | second >> 224) == agentId;
            return (unknown, address(0));
        }
        readable = size >= 32 && first >> 160 == 0;
        if (readable) account = address(uint160(first));
    }
}
