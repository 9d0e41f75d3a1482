// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IIdentityRegistry} from "../interfaces/IIdentityRegistry.sol";

/// @title Lookup of an identity's owner and wallets
/// @notice No lookup reverts. Public identity registries can be upgraded, and one that starts to revert must not lock money.
library Identities {
    /// @notice The buyer id of a purchase that a wallet made without an agent. It is not zero, because agent 0 exists.
    uint256 internal constant AGENTLESS = type(uint256).max;

    /// @notice The owner of an identity.
    /// @param registry The ERC-8004 identity registry to ask
    /// @param agentId Id of the identity
    /// @return The owner; zero when there is no such identity or the registry reverts
    function findOwner(IIdentityRegistry registry, uint256 agentId) internal view returns (address) {
        try registry.ownerOf(agentId) returns (address owner) {
            return owner;
        } catch {
            return address(0);
        }
    }

    /// @notice The wallet at which an identity is paid: its agent wallet if it has one, else its owner.
    /// @param registry The ERC-8004 identity registry to ask
    /// @param agentId Id of the identity
    /// @return The wallet; zero when there is no such identity or the registry reverts
    function findPayee(IIdentityRegistry registry, uint256 agentId) internal view returns (address) {
        address wallet = findWallet(registry, agentId);
        return wallet == address(0) ? findOwner(registry, agentId) : wallet;
    }

    /// @notice The agent wallet of an identity.
    /// @param registry The ERC-8004 identity registry to ask
    /// @param agentId Id of the identity
    /// @return The wallet; zero when it is not set, there is no such identity, or the registry reverts
    function findWallet(IIdentityRegistry registry, uint256 agentId) internal view returns (address) {
        try registry.getAgentWallet(agentId) returns (address wallet) {
            return wallet;
        } catch {
            return address(0);
        }
    }
}
