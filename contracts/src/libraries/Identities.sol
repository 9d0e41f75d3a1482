// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IIdentityRegistry} from "../interfaces/IIdentityRegistry.sol";

/// @title Who stands behind an identity
library Identities {
    /// @notice Stands for a buyer that is no agent. Agent 0 is a real one.
    uint256 internal constant AGENTLESS = type(uint256).max;

    /// @notice The owner of an identity, or zero when there is no such identity.
    function findOwner(IIdentityRegistry registry, uint256 agentId) internal view returns (address) {
        try registry.ownerOf(agentId) returns (address owner) {
            return owner;
        } catch {
            return address(0);
        }
    }

    /// @notice Where an identity is paid: its agent wallet, else its owner, else (no such identity) zero.
    function findPayee(IIdentityRegistry registry, uint256 agentId) internal view returns (address) {
        address wallet = findWallet(registry, agentId);
        return wallet == address(0) ? findOwner(registry, agentId) : wallet;
    }

    /// @notice The agent wallet of an identity, or zero. Public registries can be upgraded: one that starts to revert must not lock money.
    function findWallet(IIdentityRegistry registry, uint256 agentId) internal view returns (address) {
        try registry.getAgentWallet(agentId) returns (address wallet) {
            return wallet;
        } catch {
            return address(0);
        }
    }
}
