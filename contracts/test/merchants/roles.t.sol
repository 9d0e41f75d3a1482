// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {MerchantRegistry} from "../../src/MerchantRegistry.sol";
import {MarketTest} from "../base/MarketTest.sol";

contract MerchantRolesTest is MarketTest {
    bytes32 private constant SIGNER = keccak256("SETTLEMENT_SIGNER_ROLE");

    address private signer = makeAddr("signer");

    function test_succeeds_whenTheOwnerGrantsAndRevokes() public {
        expectRoleSet(merchant.addr, true);
        grant(merchant.addr);
        assertTrue(merchants.hasRole(merchantId, SIGNER, signer));
        expectRoleSet(merchant.addr, false);
        vm.prank(merchant.addr);
        merchants.revokeRole(merchantId, SIGNER, signer);
        assertFalse(merchants.hasRole(merchantId, SIGNER, signer));
    }

    function test_succeeds_whenARoleIsForOneMerchantAndOneNameOnly() public {
        grant(merchant.addr);
        assertFalse(merchants.hasRole(reviewerAgentId, SIGNER, signer));
        assertFalse(merchants.hasRole(merchantId, keccak256("OTHER_ROLE"), signer));
        assertFalse(merchants.hasRole(SIGNER, signer));
        assertFalse(merchants.hasRole(404, SIGNER, signer));
    }

    function test_succeeds_whenATransferVoidsTheRoles() public {
        grant(merchant.addr);
        transferIdentity(merchant.addr, stranger, merchantId);
        assertFalse(merchants.hasRole(merchantId, SIGNER, signer));
        vm.prank(stranger);
        merchants.setActive(merchantId, true);
        assertFalse(merchants.hasRole(merchantId, SIGNER, signer));
        expectRoleSet(stranger, true);
        grant(stranger);
        assertTrue(merchants.hasRole(merchantId, SIGNER, signer));
    }

    function test_reverts_whenNotTheOwnerCalls() public {
        bytes memory notOwner =
            abi.encodeWithSelector(MerchantRegistry.NotMerchantOwner.selector, admin, merchantId);
        vm.expectRevert(notOwner);
        grant(admin);
        vm.expectRevert(notOwner);
        vm.prank(admin);
        merchants.revokeRole(merchantId, SIGNER, signer);
    }

    /// @dev A merchant's owner names a role as the protocol does, and still has no power over the protocol.
    function test_succeeds_whenAProtocolRoleIsGrantedWithinAMerchant() public {
        bytes32 role = merchants.GUARDIAN_ROLE();
        vm.prank(merchant.addr);
        merchants.grantRole(merchantId, role, signer);
        vm.expectRevert(missingRole(signer, "GUARDIAN_ROLE"));
        vm.prank(signer);
        merchants.setSuspended(merchantId, true);
    }

    function grant(address caller) private {
        vm.prank(caller);
        merchants.grantRole(merchantId, SIGNER, signer);
    }

    function expectRoleSet(address owner, bool granted) private {
        vm.expectEmit(address(merchants));
        emit MerchantRegistry.MerchantRoleSet(merchantId, SIGNER, signer, owner, granted);
    }
}
